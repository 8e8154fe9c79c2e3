package conformance

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"rackparams/pkg/fleet"
	"rackparams/pkg/nodepool"

	"github.com/awslabs/operatorpkg/status"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	clock "k8s.io/utils/clock/testing"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
)

// TestFleets shows that nodes and NodeClaims, as kubectl prints them, are counted as Karpenter's disruption controller counts them,
// so that what a pool is allowed is what Karpenter allows it. The taint of nodes that are being disrupted is left out: Karpenter keeps
// its memory of them to itself, and the taint is the sign of it.
func TestFleets(t *testing.T) {
	var seen tally
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	budgets := nodepool.Budgets{{Nodes: "30%"}, {Nodes: "2", Reasons: nodepool.Reasons{nodepool.Drifted}}}
	decoded, err := karpenterBudgets(budgets)
	require.NoError(t, err)
	evaluator, pool := nodepool.NewEvaluator(budgets), poolOf(decoded)
	forEachCase(t, 3_000, func(r *rand.Rand) error {
		claims, nodes := randomFleet(r)
		read, err := fleet.Read(bytes.NewReader(kubectlList(claims, nodes)), "kubectl")
		if err != nil {
			return err
		}
		read.Pools = nil
		states := map[string]nodepool.State{}
		for _, p := range read.Status([]nodepool.NodePool{{Metadata: nodepool.Metadata{Name: "a"}}, {Metadata: nodepool.Metadata{Name: "b"}}}) {
			states[p.Name] = p.State
		}
		for _, reason := range allReasons {
			total, disrupting := disruption.NodePoolStatsFromNodes(stateNodes(claims, nodes), karpenterv1.DisruptionReason(reason))
			for _, name := range []string{"a", "b"} {
				ours := states[name]
				want := max(pool.MustGetAllowedDisruptions(clock.NewFakeClock(at), total[name], karpenterv1.DisruptionReason(reason))-disrupting[name], 0)
				got := evaluator.Allowed(reason, at, ours)
				if ours.Nodes != total[name] || got != want {
					return fmt.Errorf("%s of pool %s: %d of %d nodes are allowed, and Karpenter allows %d of %d: %s", reason, name, got, ours.Nodes, want, total[name], kubectlList(claims, nodes))
				}
			}
		}
		for _, s := range states {
			seen.add(map[bool]string{true: "nodes", false: "no nodes"}[s.Nodes > 0])
			if s.NotReady > 0 {
				seen.add("not ready")
			}
			if s.Deleting > 0 {
				seen.add("deleting")
			}
		}
		return nil
	})
	seen.requireAll(t, []string{"nodes", "no nodes", "not ready", "deleting"})
}

// randomFleet makes claims and nodes in all states that they can be in, some without the other half.
func randomFleet(r *rand.Rand) (claims []*karpenterv1.NodeClaim, nodes []*corev1.Node) {
	is := func(chance int) bool { return r.IntN(100) < chance }
	for i := range r.IntN(14) {
		pool := []string{"a", "b"}[r.IntN(2)]
		id := fmt.Sprintf("aws:///%d", i)
		if !is(10) {
			claims = append(claims, randomClaim(is, fmt.Sprint("claim-", i), pool, id))
		}
		if !is(10) {
			nodes = append(nodes, randomNode(is, fmt.Sprint("node-", i), pool, id))
		}
	}
	return claims, nodes
}

func randomClaim(is func(int) bool, name, pool, id string) *karpenterv1.NodeClaim {
	claim := &karpenterv1.NodeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"}}
	claim.Name = name
	claim.CreationTimestamp = metav1.NewTime(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	claim.Labels = map[string]string{karpenterv1.NodePoolLabelKey: pool}
	if !is(10) {
		claim.Status.ProviderID = id
	}
	if is(15) {
		claim.DeletionTimestamp = &metav1.Time{Time: claim.CreationTimestamp.Add(time.Hour)}
	}
	for _, condition := range []string{karpenterv1.ConditionTypeInstanceTerminating, karpenterv1.ConditionTypeRebooting} {
		if is(30) {
			value := metav1.ConditionFalse
			if is(50) {
				value = metav1.ConditionTrue
			}
			claim.Status.Conditions = append(claim.Status.Conditions, status.Condition{Type: condition, Status: value, Reason: condition})
		}
	}
	return claim
}

func randomNode(is func(int) bool, name, pool, id string) *corev1.Node {
	node := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}}
	node.Name = name
	node.Spec.ProviderID = id
	node.Labels = map[string]string{}
	if !is(10) {
		node.Labels[karpenterv1.NodePoolLabelKey] = pool
	}
	if !is(15) {
		node.Labels[karpenterv1.NodeRegisteredLabelKey] = "true"
	}
	if !is(20) {
		node.Labels[karpenterv1.NodeInitializedLabelKey] = map[bool]string{true: "true", false: "false"}[!is(5)]
	}
	if !is(10) {
		ready := corev1.ConditionTrue
		if is(30) {
			ready = []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionUnknown}[map[bool]int{true: 1}[is(50)]]
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse}, {Type: corev1.NodeReady, Status: ready}}
	}
	return node
}

// stateNodes joins claims and nodes as Karpenter's state of the cluster does: by the provider's ID.
func stateNodes(claims []*karpenterv1.NodeClaim, nodes []*corev1.Node) []*state.StateNode {
	byID := map[string]*state.StateNode{}
	at := func(id string) *state.StateNode {
		if byID[id] == nil {
			byID[id] = state.NewNode()
		}
		return byID[id]
	}
	for _, claim := range claims {
		if claim.Status.ProviderID != "" {
			at(claim.Status.ProviderID).NodeClaim = claim
		}
	}
	for _, node := range nodes {
		at(node.Spec.ProviderID).Node = node
	}
	var all []*state.StateNode
	for _, n := range byID {
		// Karpenter would crash on one that reboots without a node, and so there is none.
		if n.Node != nil || !n.RebootInProgress() {
			all = append(all, n)
		}
	}
	return all
}

// kubectlList is what kubectl prints.
func kubectlList(claims []*karpenterv1.NodeClaim, nodes []*corev1.Node) []byte {
	var items []any
	for _, claim := range claims {
		items = append(items, claim)
	}
	for _, node := range nodes {
		items = append(items, node)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		panic(err) // they were made here
	}
	return text
}
