package params

import (
	"maps"
	"slices"
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
)

// rule is a rule across parameters. It is asked when a change touches one of the names that it reads.
type rule struct {
	reads []string
	check func(t *transition)
}

// rules are all rules across parameters.
var rules = []rule{
	{[]string{blockScheduleName, blockDurationName}, checkWindow},
	{[]string{blockScheduleName, blockDurationName, "karpenter_config", "karpenter_enabled"}, checkWindowAgainstBudgets},
	{[]string{"karpenter_auth_mode"}, neverBackToFalse("karpenter_auth_mode")},
	{[]string{"eks_access_entries"}, neverBackToFalse("eks_access_entries")},
	{[]string{"karpenter_enabled", "karpenter_auth_mode"}, checkAuthMode},
	{[]string{"karpenter_enabled", "node_capacity_type"}, checkCapacityType},
	{[]string{"karpenter_enabled"}, checkSingleNodeRack},
	{[]string{"karpenter_enabled", "additional_node_groups_config"}, checkDedicatedGroups},
	{[]string{"karpenter_enabled", "karpenter_instance_families", "karpenter_arch", "node_type"}, checkWorkloadFamilies},
	{[]string{"karpenter_enabled", "karpenter_build_instance_families", "karpenter_instance_families", "build_node_type", "node_type", "build_node_enabled"}, checkBuildFamilies},
	{[]string{"karpenter_enabled", "additional_karpenter_nodepools_config"}, checkPoolFamilies},
	{[]string{"karpenter_enabled", "karpenter_node_labels", "karpenter_config"}, checkLabelCount},
	{[]string{"karpenter_node_volume_type", "karpenter_node_volume_iops", "karpenter_node_volume_throughput"}, checkVolume},
	{[]string{"karpenter_node_expiry"}, checkExpiry},
	{[]string{"karpenter_config"}, checkEmptyBudgets},
	{[]string{"schedule_rack_scale_down", "schedule_rack_scale_up"}, checkScaleSchedules},
	{[]string{"gpu_observability_enable", "nvidia_device_plugin_enable"}, checkGPUObservability},
	{[]string{"ecr_docker_hub_cache", "docker_hub_username", "docker_hub_password"}, checkDockerHubCache},
}

// checkRules asks the rules whose names ask selects. Enabling Karpenter asks all that Karpenter has a part in.
func (t *transition) checkRules(ask func(reads []string) bool) {
	for _, rule := range rules {
		if ask(rule.reads) || t.enablesKarpenter() && slices.ContainsFunc(rule.reads, isKarpenter) {
			rule.check(t)
		}
	}
}

func (t *transition) enablesKarpenter() bool {
	return t.after.KarpenterEnabled() && !t.before.KarpenterEnabled()
}

func (t *transition) isWrong(name string) bool { return slices.Contains(t.wrong, name) }

func neverBackToFalse(name string) func(t *transition) {
	return func(t *transition) {
		if t.before.Bool(name) && !t.after.Bool(name) && !t.isWrong(name) {
			t.refuse(name, "%s cannot go back from true to false: the cluster keeps its authentication mode", name)
		}
	}
}

func checkAuthMode(t *transition) {
	if t.after.KarpenterEnabled() && !t.after.Bool("karpenter_auth_mode") && !t.isWrong("karpenter_auth_mode") {
		t.refuse("karpenter_enabled", "karpenter_enabled=true needs karpenter_auth_mode=true; set it before, or in the same call")
	}
}

func checkCapacityType(t *transition) {
	capacity := t.after.Value("node_capacity_type")
	if !t.after.KarpenterEnabled() || strings.EqualFold(capacity, "on_demand") || t.isWrong("node_capacity_type") {
		return
	}
	t.refuse("node_capacity_type", "node_capacity_type must be on_demand while karpenter_enabled is true, not %s", shape.Quote(capacity))
}

// nodeGroupParameters configure the node groups that a rack without high availability rebuilds when Karpenter is
// enabled, so they cannot change in the same call.
var nodeGroupParameters = []string{
	"ebs_volume_encryption_enabled", "fast_image_pull_enable", "gpu_tag_enable", "imds_http_hop_limit", "imds_http_tokens",
	"imds_tags_enable", "karpenter_node_volume_iops", "karpenter_node_volume_throughput", "key_pair_name",
	"kubelet_registry_burst", "kubelet_registry_pull_qps", "node_volume_iops", "node_volume_throughput", "user_data", "user_data_url",
}

func checkSingleNodeRack(t *transition) {
	if t.whole || !t.enablesKarpenter() || t.after.Bool("high_availability") {
		return
	}
	for _, name := range nodeGroupParameters {
		if t.touches([]string{name}) {
			t.refuse(name, "%s cannot change in the call that enables Karpenter on a rack with high_availability=false; set it in a call of its own", name)
		}
	}
}

func checkDedicatedGroups(t *transition) {
	const name = "additional_node_groups_config"
	if !t.after.KarpenterEnabled() || t.isWrong(name) {
		return
	}
	var groups []nodeGroup
	if err := parseDocument(t.after.Value(name), &groups); err != nil {
		t.refuse(name, "%s: %s", name, err)
	}
	for i, group := range groups {
		if !group.Dedicated {
			t.refuse(name, "%s: [%d] (%s) needs \"dedicated\": true while Karpenter is enabled", name, i, shape.Shorten(group.String()))
		}
	}
}

func checkWorkloadFamilies(t *transition) {
	const name = "karpenter_instance_families"
	if families, archs := t.after.Value(name), t.after.WorkloadArchs(); t.after.KarpenterEnabled() && !t.isWrong(name) && !t.isWrong("karpenter_arch") && !t.isWrong("node_type") && !fits(families, archs) {
		t.refuse(name, "%s=%s holds no family of the architecture %s, which karpenter_arch or else node_type asks for; add one", name, shape.Shorten(families), shape.Enumerate(archs, "or"))
	}
}

// checkBuildFamilies refuses families of the build pool's own that cannot run there, and warns where those it takes over
// from the workload pool cannot.
func checkBuildFamilies(t *transition) {
	const name = "karpenter_build_instance_families"
	arch := t.after.BuildArch()
	if !t.after.KarpenterEnabled() || t.isWrong(name) || t.isWrong("karpenter_instance_families") || t.isWrong("build_node_type") || t.isWrong("node_type") || fits(t.after.BuildFamilies(), []string{arch}) {
		return
	}
	if families := t.after.Value(name); families != "" {
		t.refuse(name, "%s=%s holds no family of the architecture %s, which build_node_type or else node_type asks for; add one", name, shape.Shorten(families), arch)
	} else if t.after.Bool("build_node_enabled") {
		t.warn(name, "the build pool takes karpenter_instance_families=%s over, which holds no family of its architecture %s, so that no build node can start; set %s or build_node_type",
			shape.Shorten(t.after.BuildFamilies()), arch, name)
	}
}

func checkPoolFamilies(t *transition) {
	const name = "additional_karpenter_nodepools_config"
	pools, err := t.after.CustomPools()
	if err != nil || !t.after.KarpenterEnabled() || t.isWrong(name) {
		return
	}
	for _, pool := range pools {
		if families := strings.Join(pool.InstanceFamilies, ","); !fits(families, pool.Arch) {
			t.warn(name, "the instance_families of the pool %s, %s, hold none of its arch %s, so that no node of it can start; set arch or add a family", pool.Name, shape.Shorten(families), shape.Enumerate(pool.Arch, "or"))
		}
	}
}

func checkLabelCount(t *transition) {
	const name = "karpenter_node_labels"
	if t.isWrong(name) || t.isWrong("karpenter_config") {
		return
	}
	config, err := t.after.KarpenterConfig()
	if err != nil {
		return
	}
	labels := ParseLabels(t.after.Value(name))
	maps.Copy(labels, config.NodePool.Template.Metadata.Labels)
	if n := len(labels) + 1; n > nodepool.MaxLabels {
		t.refuse(name, "%s and karpenter_config put %d labels on the workload pool with %s; Karpenter takes %d at most", name, n, PoolLabel, nodepool.MaxLabels)
	}
}

func checkVolume(t *transition) {
	volumeType := t.after.Value("karpenter_node_volume_type")
	for _, name := range []string{"karpenter_node_volume_iops", "karpenter_node_volume_throughput"} {
		if value := t.after.Value(name); value != "0" && volumeType != "gp3" && !t.isWrong(name) && !t.isWrong("karpenter_node_volume_type") {
			t.refuse(name, "%s=%s needs karpenter_node_volume_type=gp3, and that is %s; set it to 0 or the type to gp3", name, value, volumeType)
		}
	}
}

func checkExpiry(t *transition) {
	const name = "karpenter_node_expiry"
	if expiry := t.after.Value(name); strings.HasSuffix(expiry, "h") && strings.Trim(expiry, "0h") == "" {
		t.warn(name, "%s=%s deletes every new node as soon as it is there; write hours, or Never", name, expiry)
	}
}

func checkEmptyBudgets(t *transition) {
	config, err := t.after.KarpenterConfig()
	if budgets := config.NodePool.Disruption.Budgets; err == nil && !t.isWrong("karpenter_config") && budgets != nil && len(budgets) == 0 {
		t.warn("karpenter_config", "karpenter_config sets an empty nodePool.disruption.budgets, which lets Karpenter disrupt all workload nodes at once; leave it out for karpenter_disruption_budget_nodes")
	}
}

func checkScaleSchedules(t *transition) {
	if down, up := t.after.Value("schedule_rack_scale_down"), t.after.Value("schedule_rack_scale_up"); (down == "") != (up == "") {
		t.refuse("schedule_rack_scale_down", "schedule_rack_scale_down and schedule_rack_scale_up must be set together, and cleared together")
	}
}

func checkGPUObservability(t *transition) {
	// Racks of some providers have the one parameter without the other; there is nothing to ask of them.
	if !Find("nvidia_device_plugin_enable").Providers.Has(t.after.Provider) {
		return
	}
	if t.after.Bool("gpu_observability_enable") && !t.after.Bool("nvidia_device_plugin_enable") {
		t.refuse("gpu_observability_enable", "gpu_observability_enable=true needs nvidia_device_plugin_enable=true; set both")
	}
}

func checkDockerHubCache(t *transition) {
	if !t.after.Bool("ecr_docker_hub_cache") {
		return
	}
	var missing []string
	for _, name := range []string{"docker_hub_password", "docker_hub_username"} {
		if t.after.Value(name) == "" {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		t.refuse("ecr_docker_hub_cache", "ecr_docker_hub_cache=true needs docker_hub_username and docker_hub_password; set %s", shape.Enumerate(missing, "and"))
	}
}

// checkDropped refuses, unless forced, to drop pools and node groups that are stored: their nodes would go.
func (t *transition) checkDropped() {
	for name, list := range map[string]func(Rack) ([]string, error){
		"additional_karpenter_nodepools_config": poolNames,
		"additional_node_groups_config":         groupNames("additional_node_groups_config"),
		"additional_build_groups_config":        groupNames("additional_build_groups_config"),
	} {
		if !t.touches([]string{name}) || t.isWrong(name) {
			continue
		}
		before, errBefore := list(t.before)
		after, errAfter := list(t.after)
		if errBefore != nil || errAfter != nil {
			continue
		}
		kept := map[string]int{}
		for _, entry := range after {
			kept[entry]++
		}
		var dropped []string
		for _, entry := range before {
			if kept[entry]--; kept[entry] < 0 {
				dropped = append(dropped, entry)
			}
		}
		if dropped != nil {
			t.refuseUnlessForced(name, "%s no longer holds %s, whose nodes would be removed", name, shape.Shorten(shape.Enumerate(dropped, "and")))
		}
	}
}

func poolNames(r Rack) ([]string, error) {
	pools, err := r.CustomPools()
	var names []string
	for _, pool := range pools {
		names = append(names, pool.Name)
	}
	return names, err
}

func groupNames(name string) func(Rack) ([]string, error) {
	return func(r Rack) ([]string, error) {
		var groups []nodeGroup
		err := parseDocument(r.Value(name), &groups)
		var names []string
		for _, group := range groups {
			names = append(names, group.String())
		}
		return names, err
	}
}
