// Package render makes the Karpenter NodePools that follow from the parameters of a rack, as the rack's own Terraform
// would make them at each release.
package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackparams/params"
	"rackparams/pkg/nodepool"
)

// NodePools returns the NodePools of a rack: workload first, then build, then the custom ones by name. A rack without
// Karpenter has none. Where a stored value is not what its parameter takes, the error names all that are not.
func NodePools(rack params.Rack) ([]nodepool.NodePool, error) {
	if !rack.KarpenterEnabled() {
		return nil, nil
	}
	if err := rack.CheckRendered(); err != nil {
		return nil, err
	}
	workload, err := workloadPool(rack)
	if err != nil {
		return nil, err
	}
	pools := []nodepool.NodePool{workload}
	if rack.Bool("build_node_enabled") {
		pools = append(pools, buildPool(rack))
	}
	custom, err := rack.CustomPools()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(custom, func(a, b params.CustomPool) int { return strings.Compare(a.Name, b.Name) })
	for _, entry := range custom {
		pools = append(pools, customPool(rack, entry))
	}
	return pools, nil
}

// workloadPool is the pool of the services, where karpenter_config has the last word.
func workloadPool(rack params.Rack) (nodepool.NodePool, error) {
	config, err := rack.KarpenterConfig()
	if err != nil {
		return nodepool.NodePool{}, err
	}
	override := config.NodePool
	pool := newPool("workload")

	labels := params.ParseLabels(rack.Value("karpenter_node_labels"))
	maps.Copy(labels, override.Template.Metadata.Labels)
	maps.Copy(labels, pool.Spec.Template.Metadata.Labels)
	pool.Spec.Template.Metadata.Labels = labels

	spec := &pool.Spec.Template.Spec
	spec.ExpireAfter = cmp.Or(override.Template.Spec.ExpireAfter, rack.Value("karpenter_node_expiry"))
	spec.TerminationGracePeriod = override.Template.Spec.TerminationGracePeriod
	spec.Taints = override.Template.Spec.Taints
	if spec.Taints == nil {
		spec.Taints = params.ParseTaints(rack.Value("karpenter_node_taints"))
	}
	spec.Requirements = override.Template.Spec.Requirements
	if spec.Requirements == nil {
		spec.Requirements = requirements(words(rack.Value("karpenter_capacity_types")), rack.WorkloadArchs(),
			words(rack.Value("karpenter_instance_families")), words(rack.Value("karpenter_instance_sizes")))
	}

	pool.Spec.Limits = limits(rack.Value("karpenter_cpu_limit"), rack.Value("karpenter_memory_limit_gb"))
	if override.Limits != nil {
		pool.Spec.Limits = map[string]string{}
		for name, amount := range override.Limits {
			pool.Spec.Limits[name] = string(amount)
		}
	}

	policy := "WhenEmpty"
	if rack.Bool("karpenter_consolidation_enabled") {
		policy = "WhenEmptyOrUnderutilized"
	}
	pool.Spec.Disruption = nodepool.Disruption{
		ConsolidationPolicy: cmp.Or(override.Disruption.ConsolidationPolicy, policy),
		ConsolidateAfter:    cmp.Or(override.Disruption.ConsolidateAfter, rack.Value("karpenter_consolidate_after")),
		Budgets:             override.Disruption.Budgets,
	}
	if pool.Spec.Disruption.Budgets == nil {
		pool.Spec.Disruption.Budgets = withWindow(rack, nodepool.Budget{Nodes: rack.Value("karpenter_disruption_budget_nodes")})
	}
	pool.Spec.Weight = override.Weight
	return pool, nil
}

// buildPool is the pool of the builds. Neither karpenter_config nor the workload pool's budget reaches it.
func buildPool(rack params.Rack) nodepool.NodePool {
	pool := newPool("build")
	labels := pool.Spec.Template.Metadata.Labels
	labels["convox-build"] = "true"
	maps.Copy(labels, params.ParseLabels(rack.Value("karpenter_build_node_labels")))

	spec := &pool.Spec.Template.Spec
	spec.ExpireAfter = rack.Value("karpenter_node_expiry")
	spec.Taints = []nodepool.Taint{{Key: "dedicated", Value: "build", Effect: "NoSchedule"}}
	spec.Requirements = requirements(words(rack.Value("karpenter_build_capacity_types")), []string{rack.BuildArch()},
		words(rack.BuildFamilies()), words(rack.BuildSizes()))

	pool.Spec.Limits = limits(rack.Value("karpenter_build_cpu_limit"), rack.Value("karpenter_build_memory_limit_gb"))
	pool.Spec.Disruption = nodepool.Disruption{
		ConsolidationPolicy: "WhenEmpty",
		ConsolidateAfter:    rack.Value("karpenter_build_consolidate_after"),
	}
	// Older releases leave the list out, which is Karpenter's implicit 10% for every reason.
	if !rack.Release.Before(params.BuildBudgetRelease) {
		pool.Spec.Disruption.Budgets = withWindow(rack,
			nodepool.Budget{Nodes: rack.Value("karpenter_build_disruption_budget_nodes"), Reasons: nodepool.Reasons{nodepool.Empty}},
			nodepool.Budget{Nodes: "10%", Reasons: nodepool.Reasons{nodepool.Drifted, nodepool.Underutilized}})
	}
	return pool
}

// customPool is the pool of an entry of additional_karpenter_nodepools_config.
func customPool(rack params.Rack, entry params.CustomPool) nodepool.NodePool {
	pool := newPool(entry.Name)
	maps.Copy(pool.Spec.Template.Metadata.Labels, entry.Labels)

	spec := &pool.Spec.Template.Spec
	spec.ExpireAfter = cmp.Or(entry.NodeExpiry, customExpiry(rack))
	spec.Taints = entry.Taints
	spec.Requirements = requirements(entry.CapacityTypes, entry.Arch, entry.InstanceFamilies, entry.InstanceSizes)

	pool.Spec.Limits = limits(fmt.Sprint(entry.CPULimit), fmt.Sprint(entry.MemoryLimitGB))
	pool.Spec.Disruption = nodepool.Disruption{
		ConsolidationPolicy: entry.ConsolidationPolicy,
		ConsolidateAfter:    entry.ConsolidateAfter,
		Budgets:             withWindow(rack, nodepool.Budget{Nodes: entry.DisruptionBudgetNodes}),
	}
	pool.Spec.Weight = entry.Weight
	return pool
}

// customExpiry is the expiry of custom pools that set none.
func customExpiry(rack params.Rack) string {
	if rack.Release.Before(params.WindowRelease) {
		return nodepool.DefaultExpiry
	}
	return rack.Value("karpenter_node_expiry")
}

// withWindow puts the disruption window of the rack, if it has one, behind the budgets.
func withWindow(rack params.Rack, budgets ...nodepool.Budget) nodepool.Budgets {
	if schedule, duration, found := rack.Window(); found {
		budgets = append(budgets, params.WindowBudget(schedule, duration))
	}
	return budgets
}

func newPool(name string) nodepool.NodePool {
	pool := nodepool.NodePool{APIVersion: nodepool.APIVersion, Kind: nodepool.KindName, Metadata: nodepool.Metadata{Name: name}}
	pool.Spec.Template.Metadata.Labels = map[string]string{params.PoolLabel: name}
	pool.Spec.Template.Spec.NodeClassRef = nodepool.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name}
	return pool
}

// requirements are those of a pool; families and sizes are left to Karpenter where there are none.
func requirements(capacityTypes, archs, families, sizes []string) []nodepool.Requirement {
	list := []nodepool.Requirement{
		{Key: "karpenter.sh/capacity-type", Operator: "In", Values: capacityTypes},
		{Key: "kubernetes.io/arch", Operator: "In", Values: archs},
	}
	if len(families) > 0 {
		list = append(list, nodepool.Requirement{Key: "karpenter.k8s.aws/instance-family", Operator: "In", Values: families})
	}
	if len(sizes) > 0 {
		list = append(list, nodepool.Requirement{Key: "karpenter.k8s.aws/instance-size", Operator: "In", Values: sizes})
	}
	return list
}

func limits(cpu, memoryGB string) map[string]string {
	return map[string]string{"cpu": cpu, "memory": memoryGB + "Gi"}
}

// words splits words separated by commas; empty text has none.
func words(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
