// Package nodepool knows the Karpenter NodePool: what one looks like, and the rules that the API server and Karpenter
// itself hold it to.
//
// The authority for every rule is the module sigs.k8s.io/karpenter: its types, its CRD and its controllers. Where a
// comment says "the CRD", it means the one of that module, and where it says "the AWS provider's", the one that
// github.com/aws/karpenter-provider-aws installs in its stead.
package nodepool

import (
	"fmt"
	"slices"
	"time"

	"rackparams/pkg/schedule"
)

// The API version and kind of the NodePools that Karpenter serves today.
const (
	APIVersion = "karpenter.sh/v1"
	KindName   = "NodePool"

	// Group is the API group of Karpenter's kinds.
	Group = "karpenter.sh"
)

// Never is the expireAfter of what does not expire.
const Never = "Never"

// DefaultExpiry is the expireAfter, and DefaultNodes the nodes of a budget, that the API server fills in where they are absent.
const (
	DefaultExpiry = "720h"
	DefaultNodes  = "10%"
)

// NodePool is a karpenter.sh/v1 NodePool, as far as a rack renders one. Its fields are in the order in which they are
// written.
type NodePool struct {
	APIVersion string   `json:"apiVersion" yaml:"apiVersion"`
	Kind       string   `json:"kind" yaml:"kind"`
	Metadata   Metadata `json:"metadata" yaml:"metadata"`
	Spec       Spec     `json:"spec,omitzero" yaml:"spec,omitempty"`
}

// Metadata names a NodePool.
type Metadata struct {
	Name string `json:"name" yaml:"name"`
}

// Spec is what a NodePool asks for.
type Spec struct {
	Template   Template          `json:"template,omitzero" yaml:"template,omitempty"`
	Disruption Disruption        `json:"disruption,omitzero" yaml:"disruption,omitempty"`
	Limits     map[string]string `json:"limits,omitempty" yaml:"limits,omitempty"`
	Weight     int               `json:"weight,omitempty" yaml:"weight,omitempty"`
}

// Template is what each NodeClaim of the pool is made from.
type Template struct {
	Metadata TemplateMetadata `json:"metadata,omitzero" yaml:"metadata,omitempty"`
	Spec     TemplateSpec     `json:"spec" yaml:"spec"`
}

// TemplateMetadata is what each node of the pool carries.
type TemplateMetadata struct {
	Labels map[string]string `json:"labels,omitempty" yaml:"labels,omitempty"`
}

// TemplateSpec is the spec of each NodeClaim of the pool.
type TemplateSpec struct {
	Taints                 []Taint       `json:"taints,omitempty" yaml:"taints,omitempty"`
	Requirements           []Requirement `json:"requirements" yaml:"requirements"`
	NodeClassRef           NodeClassRef  `json:"nodeClassRef" yaml:"nodeClassRef"`
	ExpireAfter            string        `json:"expireAfter,omitempty" yaml:"expireAfter,omitempty"`
	TerminationGracePeriod string        `json:"terminationGracePeriod,omitempty" yaml:"terminationGracePeriod,omitempty"`
}

// Taint keeps pods off the nodes of a pool unless they tolerate it. An empty Value is left out: the CRD refuses one
// that is written.
type Taint struct {
	Key    string `json:"key" yaml:"key"`
	Value  string `json:"value,omitempty" yaml:"value,omitempty"`
	Effect string `json:"effect" yaml:"effect"`
}

// Requirement narrows down the instances that a pool may launch.
type Requirement struct {
	Key       string   `json:"key" yaml:"key"`
	Operator  string   `json:"operator" yaml:"operator"`
	Values    []string `json:"values,omitempty" yaml:"values,omitempty"`
	MinValues int      `json:"minValues,omitempty" yaml:"minValues,omitempty"`
}

// NodeClassRef names the cloud provider's half of a pool's configuration.
type NodeClassRef struct {
	Group string `json:"group" yaml:"group"`
	Kind  string `json:"kind" yaml:"kind"`
	Name  string `json:"name" yaml:"name"`
}

// Disruption says when and how fast Karpenter may remove or replace the nodes of a pool.
type Disruption struct {
	ConsolidationPolicy string  `json:"consolidationPolicy,omitempty" yaml:"consolidationPolicy,omitempty"`
	ConsolidateAfter    string  `json:"consolidateAfter,omitempty" yaml:"consolidateAfter,omitempty"`
	Budgets             Budgets `json:"budgets,omitzero" yaml:"budgets,omitempty"`
}

// Budgets is a pool's list of disruption budgets. Nil is an absent list, for which the API server fills in one budget of
// 10%; an empty list limits nothing.
type Budgets []Budget

// IsZero tells an absent list from an empty one.
func (b Budgets) IsZero() bool { return b == nil }

// Same reports whether two lists are the same budgets, in whatever order and however their durations and reasons are written.
func (b Budgets) Same(other Budgets) bool {
	mine, others := b.texts(), other.texts()
	slices.Sort(mine)
	slices.Sort(others)
	return slices.Equal(mine, others)
}

// Arms reports whether b has a window that blocks and that the budgets before do not have.
func (b Budgets) Arms(before Budgets) bool {
	known := before.texts()
	for i, text := range b.texts() {
		if AllowsNothing(b[i].Nodes) && b[i].Schedule != "" && !slices.Contains(known, text) {
			return true
		}
	}
	return false
}

// texts are the budgets each in a form that equal ones have in common.
func (b Budgets) texts() []string {
	texts := make([]string, len(b))
	for i, budget := range b.Normal() {
		texts[i] = fmt.Sprintf("%q %t %q %q %q", budget.Nodes, budget.Reasons == nil, budget.Reasons, budget.Schedule, budget.Duration)
	}
	return texts
}

// Normal returns the list with each budget written in one way: its reasons sorted, its duration as short as can be.
func (b Budgets) Normal() Budgets {
	list := slices.Clone(b)
	for i, budget := range list {
		if budget.Reasons != nil {
			reasons := slices.Sorted(slices.Values(budget.Reasons))
			list[i].Reasons = append(Reasons{}, slices.Compact(reasons)...)
		}
		if d, err := time.ParseDuration(budget.Duration); err == nil && d%time.Minute == 0 {
			list[i].Duration = schedule.FormatDuration(d)
		}
	}
	return list
}

// Budget is one disruption budget. An empty Schedule and Duration stand for absent ones.
type Budget struct {
	Nodes    string  `json:"nodes" yaml:"nodes"`
	Reasons  Reasons `json:"reasons,omitzero" yaml:"reasons,omitempty"`
	Schedule string  `json:"schedule,omitempty" yaml:"schedule,omitempty"`
	Duration string  `json:"duration,omitempty" yaml:"duration,omitempty"`
}

// Reasons lists the disruption reasons that a budget counts for. Nil, for an absent list, is every reason; an empty list
// is none.
type Reasons []Reason

// IsZero tells an absent list from an empty one.
func (r Reasons) IsZero() bool { return r == nil }

// Strings returns the reasons as they are written.
func (r Reasons) Strings() []string {
	names := make([]string, len(r))
	for i, reason := range r {
		names[i] = string(reason)
	}
	return names
}

// Reason is why Karpenter disrupts a node.
type Reason string

// The disruption reasons. Unhealthy came with Karpenter 1.15.
const (
	Empty         Reason = "Empty"
	Underutilized Reason = "Underutilized"
	Drifted       Reason = "Drifted"
	Unhealthy     Reason = "Unhealthy"
)
