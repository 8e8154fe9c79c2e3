// Package fleet knows the live side of NodePools: the NodeClaims and nodes that a cluster has of each pool, counted as
// Karpenter counts them, and how far they are from what is wanted.
//
// The rules are those of Karpenter's state and disruption controllers (state.StateNode, disruption.NodePoolStatsFromNodes)
// and of its expiration controller.
package fleet

import (
	"fmt"
	"time"

	"rackparams/pkg/nodepool"
)

// Fleet is what a cluster has, as it was read.
type Fleet struct {
	Pools  []*nodepool.Manifest
	Claims []*NodeClaim
	Nodes  []*Node
}

// The labels, the taint and the conditions by which Karpenter keeps its books.
const (
	poolLabel        = "karpenter.sh/nodepool"
	initializedLabel = "karpenter.sh/initialized"
	registeredLabel  = "karpenter.sh/registered"
	disruptedTaint   = "karpenter.sh/disrupted"

	conditionTerminating = "InstanceTerminating"
	conditionRebooting   = "Rebooting" // from Karpenter 1.15 on
	conditionReady       = "Ready"
)

// Metadata is what is needed of the metadata of an object.
type Metadata struct {
	Name              string            `json:"name"`
	Labels            map[string]string `json:"labels"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
}

// Condition is a condition of an object's status.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// Conditions are those of one object.
type Conditions []Condition

// holds reports whether a condition is there and true.
func (c Conditions) holds(name string) bool {
	for _, condition := range c {
		if condition.Type == name {
			return condition.Status == "True"
		}
	}
	return false
}

// NodeClaim is what is needed of a NodeClaim: Karpenter's record of one machine.
type NodeClaim struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		ExpireAfter string `json:"expireAfter"`
	} `json:"spec"`
	Status struct {
		ProviderID string     `json:"providerID"`
		Conditions Conditions `json:"conditions"`
	} `json:"status"`
}

// Node is what is needed of a node.
type Node struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		ProviderID string           `json:"providerID"`
		Taints     []nodepool.Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions Conditions `json:"conditions"`
	} `json:"status"`
}

// beingDisrupted reports whether Karpenter has chosen the node to go. It remembers that in memory and keeps this taint on the
// node for as long.
func (n *Node) beingDisrupted() bool {
	for _, taint := range n.Spec.Taints {
		if taint.Key == disruptedTaint && taint.Effect == "NoSchedule" {
			return true
		}
	}
	return false
}

// pool is the pool that the claim belongs to.
func (c *NodeClaim) pool() string { return c.Metadata.Labels[poolLabel] }

// expireAfter is the lifetime of the claim, as it is written.
func (c *NodeClaim) expireAfter() string {
	if c.Spec.ExpireAfter == "" {
		return nodepool.DefaultExpiry
	}
	return c.Spec.ExpireAfter
}

// Expires reports whether the claim has a lifetime, and when that ends. A claim that is being deleted does not expire any more.
func (c *NodeClaim) Expires() (at time.Time, expires bool) {
	if c.expireAfter() == nodepool.Never || c.Metadata.DeletionTimestamp != nil {
		return at, false
	}
	lifetime, err := time.ParseDuration(c.expireAfter())
	if err != nil { // check has refused it
		return at, false
	}
	return c.Metadata.CreationTimestamp.Add(lifetime), true
}

// check says what of a claim cannot be counted with.
func (c *NodeClaim) check() error {
	switch _, err := time.ParseDuration(c.expireAfter()); {
	case c.Metadata.Name == "":
		return errNoName
	case c.Metadata.CreationTimestamp.IsZero():
		return fmt.Errorf("it has no metadata.creationTimestamp")
	case c.expireAfter() != nodepool.Never && err != nil:
		return fmt.Errorf("its spec.expireAfter %q is not a duration", c.expireAfter())
	}
	return nil
}

// states counts the nodes of each pool as Karpenter does for its budgets: those that it manages and that are initialized, or
// rebooting, and whose instances are not on their way out. One that is both being deleted and not ready counts once.
func (f *Fleet) states() map[string]nodepool.State {
	nodes := make(map[string]*Node, len(f.Nodes))
	for _, node := range f.Nodes {
		nodes[node.Spec.ProviderID] = node
	}
	// The provider's ID makes a claim and a node one; a claim without it has no machine yet.
	claims := make(map[string]*NodeClaim, len(f.Claims))
	for _, claim := range f.Claims {
		if claim.Status.ProviderID != "" {
			claims[claim.Status.ProviderID] = claim
		}
	}
	states := map[string]nodepool.State{}
	for id, claim := range claims {
		node := nodes[id]
		if node == nil {
			continue
		}
		rebooting := claim.Status.Conditions.holds(conditionRebooting)
		if node.Metadata.Labels[initializedLabel] != "true" && !rebooting || claim.Status.Conditions.holds(conditionTerminating) {
			continue
		}
		labels := claim.Metadata.Labels
		if node.Metadata.Labels[registeredLabel] == "true" {
			labels = node.Metadata.Labels
		}
		state := states[labels[poolLabel]]
		state.Nodes++
		switch {
		case claim.Metadata.DeletionTimestamp != nil || node.beingDisrupted() || rebooting:
			state.Deleting++
		case !node.Status.Conditions.holds(conditionReady):
			state.NotReady++
		}
		states[labels[poolLabel]] = state
	}
	return states
}
