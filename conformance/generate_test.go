package conformance

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"rackparams/params"
)

const (
	configName = "karpenter_config"
	poolsName  = "additional_karpenter_nodepools_config"
)

// releases stand for the spans of releases that render differently or know other parameters.
var releases = []string{"3.24.6", "3.25.2", "3.25.3", "3.25.5", "3.25.6", "3.25.7"}

// rackInput is what a rack is installed with. Values are text, or what a JSON parameter's text decodes to.
type rackInput struct {
	release string
	set     map[string]any
	// base64 is set when JSON parameters are given in base64.
	base64 bool
}

// rack installs the rack.
func (in rackInput) rack() (params.Rack, error) {
	rack, err := params.NewRack("aws", map[string]string{"name": "conformance", "release": in.release})
	if err != nil {
		return params.Rack{}, err
	}
	change := params.Change{Set: map[string]string{}, Install: true}
	for name, value := range in.set {
		change.Set[name] = in.text(value)
	}
	outcome, err := rack.Apply(change)
	return outcome.Rack, err
}

func (in rackInput) text(value any) string {
	if text, isText := value.(string); isText {
		return text
	}
	document, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	if in.base64 {
		return base64.StdEncoding.EncodeToString(document)
	}
	return string(document)
}

// String writes the input for a failure message.
func (in rackInput) String() string {
	document, err := json.MarshalIndent(in.set, "", "  ")
	if err != nil {
		panic(err)
	}
	form := ""
	if in.base64 {
		form = " (JSON in base64)"
	}
	return fmt.Sprintf("a rack at %s with%s %s", in.release, form, document)
}

// smaller leaves out parameters, or parts of those that are JSON.
func (in rackInput) smaller() iter.Seq[rackInput] {
	return func(yield func(rackInput) bool) {
		if in.base64 && !yield(rackInput{release: in.release, set: in.set}) {
			return
		}
		for set := range smallerJSON(in.set) {
			if !yield(rackInput{release: in.release, set: set.(map[string]any), base64: in.base64}) {
				return
			}
		}
	}
}

// checkIfAccepted says what is wrong with the NodePools of the rack, provided that the program takes it.
func (in rackInput) checkIfAccepted() (accepted bool, err error) {
	rack, err := in.rack()
	if err != nil {
		return false, nil
	}
	_, err = checkRendered(rack)
	return true, err
}

// minimal returns what is wrong with the smallest rack that the program takes and whose NodePools are wrong.
func (in rackInput) minimal() error {
	smallest := shrink(in, rackInput.smaller, func(in rackInput) bool {
		_, err := in.checkIfAccepted()
		return err != nil
	})
	_, err := smallest.checkIfAccepted()
	return fmt.Errorf("%w\nfor %s", err, smallest)
}

// features names what the input holds: each parameter, and each path in those that are JSON, with the value where it is
// one of a few words.
func (in rackInput) features() []string {
	names := map[string]bool{"release " + in.release: true}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		names[path] = true
		switch value := value.(type) {
		case map[string]any:
			for key, entry := range value {
				if strings.HasSuffix(path, ".labels") || strings.HasSuffix(path, ".limits") || strings.HasSuffix(path, ".tags") {
					key = "*"
				}
				walk(path+"."+key, entry)
			}
		case []any:
			for _, entry := range value {
				walk(path+"[]", entry)
			}
		case string:
			if len(value) < 30 {
				names[path+"="+value] = true
			}
		}
	}
	for name, value := range in.set {
		walk(name, value)
	}
	return slices.Collect(maps.Keys(names))
}

// generatedParameters are the parameters that decide the NodePools: all of Karpenter's, those listed under its group, and
// the others that have a say in them. A parameter that the catalog gains has to get a generator.
func generatedParameters() []string {
	names := []string{"build_node_enabled", "build_node_type", "high_availability", "node_capacity_type", "node_type", poolsName}
	for _, p := range params.All() {
		if p.Providers.Has(params.AWS) && (strings.HasPrefix(p.Name, "karpenter_") || p.InGroup("karpenter")) && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// plainParameters generate the values that depend on nothing else.
var plainParameters = map[string]func(r *rand.Rand) string{
	"build_node_enabled":                      boolean,
	"karpenter_ami_alias":                     func(r *rand.Rand) string { return oneOf(r, "", "al2023@latest", "al2023@v20260901") },
	"karpenter_build_capacity_types":          capacityTypes,
	"karpenter_build_consolidate_after":       shortDuration,
	"karpenter_build_cpu_limit":               positive,
	"karpenter_build_disruption_budget_nodes": budgetNodes,
	"karpenter_build_imds_hop_limit":          positive,
	"karpenter_build_imds_tokens":             func(r *rand.Rand) string { return oneOf(r, "optional", "required", "") },
	"karpenter_build_instance_sizes":          instanceSizes,
	"karpenter_build_memory_limit_gb":         positive,
	"karpenter_build_node_labels":             func(r *rand.Rand) string { return labelText(r) },
	"karpenter_capacity_types":                capacityTypes,
	"karpenter_consolidate_after":             shortDuration,
	"karpenter_consolidation_enabled":         boolean,
	"karpenter_cpu_limit":                     positive,
	"karpenter_disruption_budget_nodes":       budgetNodes,
	"karpenter_instance_sizes":                instanceSizes,
	"karpenter_memory_limit_gb":               positive,
	"karpenter_node_disk":                     func(r *rand.Rand) string { return strconv.Itoa(r.IntN(1000)) },
	"karpenter_node_expiry":                   nodeExpiry,
	"karpenter_node_labels":                   func(r *rand.Rand) string { return labelText(r) },
	"karpenter_node_os":                       func(r *rand.Rand) string { return oneOf(r, "al2023", "bottlerocket") },
	"karpenter_node_taints":                   func(r *rand.Rand) string { return oneOf(r, "", taintText(r, taints(r, 5)), taintText(r, taints(r, 5))) },
	"karpenter_system_node_min_count_per_az":  func(r *rand.Rand) string { return strconv.Itoa(1 + r.IntN(100)) },
	"keda_enable":                             boolean,
	"node_capacity_type":                      func(r *rand.Rand) string { return oneOf(r, "on_demand", "ON_DEMAND", "On_Demand") },
}

func boolean(r *rand.Rand) string {
	return oneOf(r, "true", "false", "1", "0", "t", "F", "TRUE", "False")
}

func positive(r *rand.Rand) string {
	return oneOf(r, "1", "2147483647", strconv.Itoa(1+r.IntN(100000)))
}

func capacityTypes(r *rand.Rand) string { return oneOf(r, "on-demand", "spot", "on-demand,spot") }

func shortDuration(r *rand.Rand) string {
	return oneOf(r, "0s", "30s", "5m", "1h", "0001h", "2562047h", "9223372036s", fmt.Sprintf("%d%s", r.IntN(10000), oneOf(r, "s", "m", "h")))
}

func nodeExpiry(r *rand.Rand) string {
	return oneOf(r, "Never", "720h", "0h", "00720h", "2562047h", fmt.Sprintf("%dh", r.IntN(10000)))
}

func instanceSizes(r *rand.Rand) string {
	return strings.Join(some(r, 0, 4, "nano", "large", "xlarge", "2xlarge", "24xlarge", "metal", "1e3", "007"), ",")
}

// labelText returns labels for the text of a parameter: mostly a few, sometimes as many as there may be.
func labelText(r *rand.Rand) string { return pairs(r, labels(r, few(r, 40))) }

// The instance families of each architecture, and those whose names do not say.
var (
	amd64Families = []string{"c5", "m5", "m7i", "t3", "r6a", "x2iedn", "inf2", "c5n"}
	arm64Families = []string{"a1", "c7g", "m6gd", "t4g", "im4gn", "x8g", "g5g", "hpc7g"}
	otherFamilies = []string{"1e3", "12", "0x1f", "on", "mac"}
)

// familiesFor returns instance families of which one fits the architecture.
func familiesFor(r *rand.Rand, arch string) string {
	fitting := append(slices.Clone(otherFamilies), amd64Families...)
	if arch == "arm64" {
		fitting = append(slices.Clone(otherFamilies), arm64Families...)
	}
	rest := some(r, 0, 3, slices.Concat(amd64Families, arm64Families, otherFamilies)...)
	all := append(rest, oneOf(r, fitting...))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, ",")
}

// instanceTypeOf returns an instance type of the architecture.
func instanceTypeOf(r *rand.Rand, arch string) string {
	if arch == "arm64" {
		return oneOf(r, arm64Families...) + "." + oneOf(r, "large", "metal")
	}
	return oneOf(r, amd64Families...) + "." + oneOf(r, "large", "metal")
}

// generateRack returns a rack with Karpenter on and values that all fit.
func generateRack(r *rand.Rand) rackInput {
	in := rackInput{release: oneOf(r, releases...), set: map[string]any{"karpenter_enabled": "true", "karpenter_auth_mode": "true"}, base64: chance(r, 0.3)}
	for _, name := range slices.Sorted(maps.Keys(plainParameters)) {
		in.put(r, 0.4, name, func() any { return plainParameters[name](r) })
	}
	in.addInstances(r)
	in.addVolume(r)
	in.put(r, 0.5, poolsName, func() any { return customPools(r) })
	in.put(r, 0.1, "karpenter_node_overlays_config", func() any { return nodeOverlays(r) })
	window := in.addWindow(r)
	in.put(r, 0.5, configName, func() any { return karpenterConfig(r, !window) })
	return in
}

// put sets a parameter that often, where the rack's release knows it.
func (in rackInput) put(r *rand.Rand, p float64, name string, value func() any) bool {
	since := params.Find(name).Since
	if !chance(r, p) || since != "" && params.Release(in.release).Before(since) {
		return false
	}
	in.set[name] = value()
	return true
}

// addInstances sets instance types, architectures and families that go together.
func (in rackInput) addInstances(r *rand.Rand) {
	arch, buildArch := "amd64", "amd64"
	in.put(r, 0.5, "node_type", func() any {
		arch = oneOf(r, "amd64", "arm64")
		return strings.Join(append([]string{instanceTypeOf(r, arch)}, some(r, 0, 2, "t3.small", "t4g.small")...), ",")
	})
	buildArch = arch
	in.put(r, 0.3, "build_node_type", func() any {
		buildArch = oneOf(r, "amd64", "arm64")
		return instanceTypeOf(r, buildArch)
	})
	in.put(r, 0.4, "karpenter_arch", func() any {
		archs := oneOf(r, "amd64", "arm64", "amd64,arm64")
		arch, _, _ = strings.Cut(archs, ",")
		return archs
	})
	in.put(r, 0.4, "karpenter_instance_families", func() any { return familiesFor(r, arch) })
	in.put(r, 0.4, "karpenter_build_instance_families", func() any { return familiesFor(r, buildArch) })
}

// addVolume sets the volume of the nodes. A rack without high availability takes no such parameter in the call that
// enables Karpenter.
func (in rackInput) addVolume(r *rand.Rand) {
	in.put(r, 0.3, "high_availability", func() any { return boolean(r) })
	volumeType := "gp3"
	in.put(r, 0.4, "karpenter_node_volume_type", func() any {
		volumeType = oneOf(r, "gp2", "gp3", "io1", "io2")
		return volumeType
	})
	if text, given := in.set["high_availability"].(string); given {
		if available, _ := strconv.ParseBool(text); !available {
			return
		}
	}
	if volumeType == "gp3" {
		in.put(r, 0.3, "karpenter_node_volume_iops", func() any { return oneOf(r, "0", "3000", "80000") })
		in.put(r, 0.3, "karpenter_node_volume_throughput", func() any { return oneOf(r, "0", "125", "1000") })
	}
}

// addWindow sets a disruption window and reports whether it did.
func (in rackInput) addWindow(r *rand.Rand) bool {
	schedule := blockSchedule(r)
	length := 1 + r.IntN(24*60-1)
	if schedule == "@hourly" {
		length = 1 + r.IntN(59)
	}
	return in.put(r, 0.5, "karpenter_disruption_block_schedule", func() any { return schedule }) &&
		in.put(r, 1, "karpenter_disruption_block_duration", func() any { return minutesText(r, length) })
}

// minutesText writes a number of minutes as a duration, in one of the ways that there are.
func minutesText(r *rand.Rand, minutes int) string {
	forms := []string{fmt.Sprintf("%dm", minutes), fmt.Sprintf("%dh%dm", minutes/60, minutes%60), fmt.Sprintf("%02dh%02dm", minutes/60, minutes%60)}
	if minutes%60 == 0 {
		forms = append(forms, fmt.Sprintf("%dh", minutes/60))
	}
	return oneOf(r, forms...)
}

// karpenterConfig returns a value of karpenter_config, with budgets where a window does not forbid them.
func karpenterConfig(r *rand.Rand, budgets bool) map[string]any {
	disruption := map[string]any{}
	maybe(r, disruption, "consolidationPolicy", func() any { return oneOf(r, "WhenEmpty", "WhenEmptyOrUnderutilized") })
	maybe(r, disruption, "consolidateAfter", func() any { return duration(r, true) })
	if budgets {
		maybe(r, disruption, "budgets", func() any { return goodBudgets(r) })
	}
	spec := map[string]any{}
	maybe(r, spec, "expireAfter", func() any { return duration(r, true) })
	maybe(r, spec, "requirements", func() any { return requirements(r) })
	maybe(r, spec, "taints", func() any { return taintObjects(r) })
	maybe(r, spec, "terminationGracePeriod", func() any { return duration(r, false) })

	template := map[string]any{}
	maybe(r, template, "metadata", func() any {
		metadata := map[string]any{}
		maybe(r, metadata, "labels", func() any { return configLabels(r) })
		return metadata
	})
	maybe(r, template, "spec", func() any { return spec })

	pool := map[string]any{}
	maybe(r, pool, "template", func() any { return template })
	maybe(r, pool, "disruption", func() any { return disruption })
	maybe(r, pool, "limits", func() any {
		limits := map[string]any{}
		for _, name := range some(r, 0, 5, "cpu", "memory", "ephemeral-storage", "nodes", "nvidia.com/gpu", "on", "1e3") {
			limits[name] = quantity(r)
		}
		return limits
	})
	maybe(r, pool, "weight", func() any { return 1 + r.IntN(100) })

	config := map[string]any{}
	maybe(r, config, "nodePool", func() any { return pool })
	maybe(r, config, "ec2NodeClass", func() any { return nodeClass(r) })
	return config
}

// maybe sets a key in three of four cases.
func maybe(r *rand.Rand, object map[string]any, key string, value func() any) {
	if chance(r, 0.75) {
		object[key] = value()
	}
}

// configLabels returns labels with values that may be empty; sometimes as many as a pool takes beside the 40, at most, of
// the text parameter and the rack's own.
func configLabels(r *rand.Rand) map[string]any {
	all := map[string]any{}
	values := labels(r, few(r, 59))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		all[key] = oneOf(r, values[key], values[key], "")
	}
	return all
}

func taintObjects(r *rand.Rand) []any {
	all := []any{}
	for _, t := range taints(r, 5) {
		object := map[string]any{"key": t.key, "effect": t.effect}
		if t.value != "" {
			object["value"] = t.value
		}
		all = append(all, object)
	}
	return all
}

// operators are the operators of requirements.
var operators = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"}

// requirements returns requirements with every operator; sometimes as many as there may be.
func requirements(r *rand.Rand) []any {
	all := []any{}
	for range max(1, few(r, 100)) {
		all = append(all, requirement(r))
	}
	return all
}

func requirement(r *rand.Rand) map[string]any {
	key, operator := labelKey(r), oneOf(r, operators...)
	made := map[string]any{"key": key, "operator": operator}
	var values []any
	switch operator {
	case "In", "NotIn":
		for range 1 + r.IntN(5) {
			values = append(values, oneOf(r, labelValue(r), labelValue(r), ""))
		}
		if key == "karpenter.sh/capacity-type" {
			values = []any{"spot", "on-demand", "reserved"}[:1+r.IntN(3)]
		}
	case "Gt", "Lt", "Gte", "Lte":
		values = []any{oneOf(r, "0", "1", "007", "9223372036854775807", strconv.Itoa(r.IntN(100000)))}
	}
	if values != nil {
		made["values"] = values
	}
	if most := len(values); chance(r, 0.3) && (operator != "In" || most > 0) {
		if operator != "In" {
			most = 50
		}
		made["minValues"] = 1 + r.IntN(most)
	}
	return made
}

// nodeClassFields are the fields of an EC2NodeClass that karpenter_config takes, each with a value. They are another
// resource's: none may reach a NodePool.
var nodeClassFields = map[string]any{
	"amiFamily":                        "AL2023",
	"amiSelectorTerms":                 []any{map[string]any{"alias": "al2023@latest"}},
	"associatePublicIPAddress":         false,
	"blockDeviceMappings":              []any{map[string]any{"deviceName": "/dev/xvda", "ebs": map[string]any{"volumeSize": "100Gi", "volumeType": "gp3", "encrypted": true}}},
	"capacityReservationSelectorTerms": []any{map[string]any{"id": "cr-0123456789abcdef0"}},
	"connectionTracking":               map[string]any{"udpTimeout": 30},
	"context":                          "context",
	"cpuOptions":                       map[string]any{"nestedVirtualization": "enabled"},
	"detailedMonitoring":               true,
	"instanceStorePolicy":              "RAID0",
	"ipPrefixCount":                    1,
	"kubelet":                          map[string]any{"maxPods": 110, "systemReserved": map[string]any{"cpu": "100m"}},
	"metadataOptions":                  map[string]any{"httpTokens": "required", "httpPutResponseHopLimit": 2},
	"networkInterfaces":                []any{map[string]any{"deviceIndex": 0, "interfaceType": "interface", "networkCardIndex": 0}},
	"placementGroupSelector":           map[string]any{"name": "group"},
	"tags":                             map[string]any{"team": "a", "weight": "1"},
	"userData":                         "#!/bin/sh\necho '---'\n",
}

// nodeClass returns fields of an EC2NodeClass.
func nodeClass(r *rand.Rand) map[string]any {
	object := map[string]any{}
	for _, field := range some(r, 0, 5, slices.Sorted(maps.Keys(nodeClassFields))...) {
		object[field] = nodeClassFields[field]
	}
	return object
}

// poolWords are names of pools that YAML may take for something else.
var poolWords = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "gpu", "e1", "o-1"}

// customPools returns a list of custom pools, each with a name of its own.
func customPools(r *rand.Rand) []any {
	pools, taken := []any{}, map[string]bool{}
	for range oneOf(r, 0, 1, 1, 2, 3) {
		name := oneOf(r, oneOf(r, poolWords...), characters(r, lower, 1)+characters(r, lower+digits+"-", oneOf(r, 0, 5, 61))+characters(r, lower+digits, 1))
		if !taken[name] && !slices.Contains([]string{"build", "workload", "default", "system"}, name) {
			taken[name] = true
			pools = append(pools, customPool(r, name))
		}
	}
	return pools
}

// customPool returns an entry of additional_karpenter_nodepools_config. Fields may be empty instead of absent.
func customPool(r *rand.Rand, name string) map[string]any {
	pool := map[string]any{"name": name}
	maybe(r, pool, "instance_families", func() any { return wordList(r, familiesFor(r, "amd64")) })
	maybe(r, pool, "instance_sizes", func() any { return wordList(r, instanceSizes(r)) })
	maybe(r, pool, "capacity_types", func() any { return wordList(r, oneOf(r, "", "on-demand", "spot", "spot,on-demand")) })
	maybe(r, pool, "arch", func() any { return wordList(r, oneOf(r, "", "amd64", "arm64", "arm64,amd64")) })
	maybe(r, pool, "cpu_limit", func() any { return oneOf(r, 1, 1000, 2147483647) })
	maybe(r, pool, "memory_limit_gb", func() any { return oneOf(r, 1, 1000, 2147483647) })
	maybe(r, pool, "consolidation_policy", func() any { return oneOf(r, "", "WhenEmpty", "WhenEmptyOrUnderutilized") })
	maybe(r, pool, "consolidate_after", func() any { return oneOf(r, "", shortDuration(r)) })
	maybe(r, pool, "node_expiry", func() any { return oneOf(r, "", nodeExpiry(r)) })
	maybe(r, pool, "disruption_budget_nodes", func() any { return budgetNodes(r) })
	maybe(r, pool, "labels", func() any { return pairs(r, labels(r, few(r, 98))) })
	maybe(r, pool, "taints", func() any { return oneOf(r, "", taintText(r, taints(r, 5))) })
	maybe(r, pool, "dedicated", func() any { return chance(r, 0.5) })
	maybe(r, pool, "weight", func() any { return r.IntN(101) })
	maybe(r, pool, "disk", func() any { return r.IntN(1000) })
	maybe(r, pool, "ami_id", func() any { return oneOf(r, "", "ami-0123abcd", "ami-0123456789abcdef0") })
	maybe(r, pool, "volume_type", func() any { return oneOf(r, "", "gp2", "gp3", "io1", "io2") })
	if volume, given := pool["volume_type"]; !given || volume == "gp3" || volume == "" {
		maybe(r, pool, "volume_iops", func() any { return oneOf(r, 0, 3000, 80000) })
		maybe(r, pool, "volume_throughput", func() any { return oneOf(r, 0, 125, 1000) })
	}
	return pool
}

// wordList writes words as text or as a list.
func wordList(r *rand.Rand, words string) any {
	if chance(r, 0.5) || words == "" {
		return words
	}
	var list []any
	for word := range strings.SplitSeq(words, ",") {
		list = append(list, word)
	}
	return list
}

func nodeOverlays(r *rand.Rand) []any {
	return []any{map[string]any{"name": "overlay", "requirements": requirements(r), "priceAdjustment": oneOf(r, "+1", "-0.5", "-10%"), "weight": 1 + r.IntN(10000)}}
}
