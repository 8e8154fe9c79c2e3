package params

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

// CustomPool is one entry of additional_karpenter_nodepools_config, with the defaults of what it leaves out. Fields that
// belong to the EC2NodeClass are checked but not kept.
type CustomPool struct {
	Name                  string
	InstanceFamilies      []string
	InstanceSizes         []string
	CapacityTypes         []string
	Arch                  []string
	CPULimit              int
	MemoryLimitGB         int
	ConsolidationPolicy   string
	ConsolidateAfter      string
	NodeExpiry            string // empty where the entry has none: the default depends on the rack's release
	DisruptionBudgetNodes string
	Labels                map[string]string
	Taints                []nodepool.Taint
	Dedicated             bool
	Weight                int // 0 where there is none
}

// poolEntry is an entry as it is written.
type poolEntry struct {
	Name                  string    `json:"name"`
	InstanceFamilies      commaList `json:"instance_families"`
	InstanceSizes         commaList `json:"instance_sizes"`
	CapacityTypes         commaList `json:"capacity_types"`
	Arch                  commaList `json:"arch"`
	CPULimit              int       `json:"cpu_limit"`
	MemoryLimitGB         int       `json:"memory_limit_gb"`
	ConsolidationPolicy   string    `json:"consolidation_policy"`
	ConsolidateAfter      string    `json:"consolidate_after"`
	NodeExpiry            string    `json:"node_expiry"`
	DisruptionBudgetNodes string    `json:"disruption_budget_nodes"`
	Labels                string    `json:"labels"`
	Taints                string    `json:"taints"`
	Dedicated             bool      `json:"dedicated"`
	Weight                int       `json:"weight"`
}

// commaList is a list of words, written as a string with commas or as a list.
type commaList []string

func (l *commaList) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]string)(l))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text != "" {
		*l = strings.Split(text, ",")
	}
	return nil
}

// pool fills in the defaults.
func (e poolEntry) pool() CustomPool {
	pool := CustomPool{
		Name: e.Name, InstanceFamilies: e.InstanceFamilies, InstanceSizes: e.InstanceSizes,
		CapacityTypes: []string{"on-demand"}, Arch: []string{"amd64"}, CPULimit: 100, MemoryLimitGB: 400,
		ConsolidationPolicy: "WhenEmptyOrUnderutilized", ConsolidateAfter: "30s", NodeExpiry: e.NodeExpiry,
		DisruptionBudgetNodes: "10%", Labels: ParseLabels(e.Labels), Taints: poolTaints(e.Name, e.Dedicated, e.Taints), Weight: e.Weight,
		Dedicated: e.Dedicated,
	}
	setIf(&pool.CapacityTypes, []string(e.CapacityTypes), len(e.CapacityTypes) > 0)
	setIf(&pool.Arch, []string(e.Arch), len(e.Arch) > 0)
	setIf(&pool.CPULimit, e.CPULimit, e.CPULimit > 0)
	setIf(&pool.MemoryLimitGB, e.MemoryLimitGB, e.MemoryLimitGB > 0)
	setIf(&pool.ConsolidationPolicy, e.ConsolidationPolicy, e.ConsolidationPolicy != "")
	setIf(&pool.ConsolidateAfter, e.ConsolidateAfter, e.ConsolidateAfter != "")
	setIf(&pool.DisruptionBudgetNodes, e.DisruptionBudgetNodes, e.DisruptionBudgetNodes != "")
	return pool
}

func setIf[T any](target *T, value T, given bool) {
	if given {
		*target = value
	}
}

// poolTaints are the taints of a custom pool: the one that keeps a dedicated pool to itself, then its own.
func poolTaints(name string, dedicated bool, text string) []nodepool.Taint {
	taints := ParseTaints(text)
	if dedicated {
		taints = slices.Insert(taints, 0, nodepool.Taint{Key: "dedicated-node", Value: name, Effect: "NoSchedule"})
	}
	return taints
}

// customPools is the value of additional_karpenter_nodepools_config.
var customPools = document{
	accepts: "a list of NodePools", limit: maxListBytes, cleared: "[]", schema: func(nodepool.Version) *shape.Schema {
		return &shape.Schema{Kind: shape.List, Items: poolSchema(), Whole: uniqueNames}
	},
}

// reservedPools are the names that the rack and Karpenter keep for themselves.
var reservedPools = []string{"workload", "build", "default", "system"}

func poolSchema() *shape.Schema {
	text := func(check func(string) string) *shape.Schema {
		return &shape.Schema{Kind: shape.String, Check: check}
	}
	number := func(value whole) *shape.Schema {
		return &shape.Schema{Kind: shape.Int, Check: wholeCheck(value)}
	}
	// An empty string stands for a field that is left out.
	optional := func(check func(string) string) *shape.Schema {
		return text(func(value string) string {
			if value == "" {
				return ""
			}
			return check(value)
		})
	}
	list := func(check func(string) string) *shape.Schema {
		schema := optional(check)
		schema.Kind = shape.Words
		return schema
	}
	schema := object(
		required("name", text(checkPoolName)),
		field("instance_families", list(valueCheck(instanceFamilies))),
		field("instance_sizes", list(valueCheck(instanceSizes))),
		field("capacity_types", list(listOf("on-demand", "spot"))),
		field("arch", list(listOf("amd64", "arm64"))),
		field("cpu_limit", number(atLeast(1))),
		field("memory_limit_gb", number(atLeast(1))),
		field("consolidation_policy", optional(shape.OneOf("WhenEmpty", "WhenEmptyOrUnderutilized"))),
		field("consolidate_after", optional(valueCheck(shortDuration))),
		field("node_expiry", optional(valueCheck(nodeExpiry))),
		field("disruption_budget_nodes", text(valueCheck(budgetNodes))),
		field("labels", optional(valueCheck(nodeLabels(PoolLabel)))),
		field("taints", optional(valueCheck(nodeTaints))),
		field("dedicated", &shape.Schema{Kind: shape.Bool}),
		field("weight", number(between(0, 100))),
		field("disk", number(atLeast(0))),
		field("volume_type", optional(shape.OneOf("gp2", "gp3", "io1", "io2"))),
		field("volume_iops", number(zeroOrBetween(3000, 80000))),
		field("volume_throughput", number(zeroOrBetween(125, 1000))),
		field("ami_id", optional(matches(`^ami-([0-9a-f]{8}|[0-9a-f]{17})$`, "is not an AMI; write ami- and 8 or 17 hexadecimal digits"))),
	)
	schema.Whole = checkPool
	return schema
}

func checkPoolName(name string) string {
	switch {
	case !poolNamePattern.expr().MatchString(name):
		return shape.Quote(name) + " is not a pool name; write at most 63 lower-case letters, digits and '-', a letter first and no '-' last"
	case slices.Contains(reservedPools, name):
		return fmt.Sprintf("the name %q is reserved; choose another", name)
	}
	return ""
}

// poolNamePattern is the rack's own, less a dash at the end: Kubernetes takes no such name.
var poolNamePattern = matching(`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`, "")

// checkPool holds the rules that take more than one field of an entry.
func checkPool(entry *yaml.Node, report shape.Report) {
	if volumeType := shape.Text(entry, "volume_type"); volumeType != "" && volumeType != "gp3" {
		for _, name := range []string{"volume_iops", "volume_throughput"} {
			if value := shape.Get(entry, name); value != nil && value.Value != "0" {
				report(value, "."+name, "", fmt.Sprintf("it needs volume_type gp3, and that is %s", shape.Quote(volumeType)))
			}
		}
	}
	dedicated := shape.Get(entry, "dedicated")
	if taints := shape.Text(entry, "taints"); dedicated != nil && dedicated.Value == "true" && nodeTaints.expr().MatchString(taints) {
		all := poolTaints(shape.Text(entry, "name"), true, taints)
		if problem := nodepool.CheckTaintsDistinct(all); problem != "" && checkTaints(taints) == "" {
			report(shape.Get(entry, "taints"), ".taints", "", problem+": dedicated sets it already")
		}
	}
}

// listOf takes words separated by commas, each one of those given and none twice.
func listOf(known ...string) func(string) string {
	check := shape.OneOf(known...)
	return func(text string) string {
		items := strings.Split(text, ",")
		for i, item := range items {
			if problem := check(item); problem != "" {
				return problem
			}
			if slices.Contains(items[:i], item) {
				return shape.Quote(item) + " stands twice; write it once"
			}
		}
		return ""
	}
}

// valueCheck makes the check of a field of an entry from that of a parameter of the same kind.
func valueCheck(v pattern) func(string) string {
	return func(text string) string {
		if !v.expr().MatchString(text) {
			return shape.Quote(text) + " is not " + v.says
		}
		if v.also != nil {
			return v.also(text)
		}
		return ""
	}
}

func wholeCheck(value whole) func(string) string {
	return func(text string) string {
		if _, problems := value.check(&Parameter{}, text, context{}); problems != nil {
			return fmt.Sprintf("%s is not %s", shape.Shorten(text), value.Accepts())
		}
		return ""
	}
}

func matches(expr, says string) func(string) string {
	compiled := matching(expr, says)
	return func(text string) string {
		if !compiled.expr().MatchString(text) {
			return shape.Quote(text) + " " + says
		}
		return ""
	}
}
