package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestAllowances shows that an evaluator allows what Karpenter does, for every list that the CRD's patterns let through, for
// every reason, at any time and in any state of a pool, in a million questions; and that it says which budgets decide.
func TestAllowances(t *testing.T) {
	const lists, instants, asked = 13_000, 20, 1_000_000
	pattern := schedulePattern(t)
	var questions atomic.Int64
	var seen tally
	forEachCase(t, lists, func(r *rand.Rand) error {
		budgets := storedBudgets(r, pattern)
		decoded, err := karpenterBudgets(budgets)
		if err != nil {
			seen.add("undecodable")
			return checkUndecodable(budgets, instantOf(r, nil))
		}
		evaluator, pool, n := nodepool.NewEvaluator(budgets), poolOf(decoded), instants
		if slices.ContainsFunc(budgets, func(b nodepool.Budget) bool { return isSlow(b.Schedule) }) {
			n = 1
		}
		for range n {
			q := question{at: instantOf(r, decoded), state: poolState(r)}
			for _, q.reason = range allReasons {
				questions.Add(1)
				if err := q.check(evaluator, pool, &seen); err != nil {
					return q.minimal(budgets)
				}
			}
			if err := q.checkRuling(evaluator, pool, &seen); err != nil {
				return q.minimal(budgets)
			}
		}
		return nil
	})
	t.Logf("%d questions: unlimited %d, limited %d, none left %d; %d instants with an error; %d lists that Karpenter cannot decode", questions.Load(),
		seen.of("unlimited"), seen.of("limited"), seen.of("none left"), seen.of("frozen"), seen.of("undecodable"))
	seen.requireAll(t, []string{"frozen", "unlimited", "limited", "none left", "undecodable"})
	if !t.Failed() {
		require.GreaterOrEqual(t, questions.Load(), int64(asked))
	}
}

// schedulePattern returns the newest CRD's pattern for schedules.
func schedulePattern(t testing.TB) *regexp.Regexp {
	t.Helper()
	crd, err := findCRD(karpenterNewest)
	require.NoError(t, err)
	return regexp.MustCompile(crd.budgetPattern("schedule"))
}

// checkUndecodable says where a list that Karpenter cannot decode, so that it disrupts no node of the pool, allows any.
func checkUndecodable(budgets nodepool.Budgets, at time.Time) error {
	evaluator := nodepool.NewEvaluator(budgets)
	if len(evaluator.Errors()) == 0 {
		return fmt.Errorf("Karpenter cannot decode it, and there is no error about %+v", budgets)
	}
	for _, reason := range allReasons {
		if allowed := evaluator.Allowed(reason, at, nodepool.State{Nodes: 100}); allowed != 0 {
			return fmt.Errorf("Karpenter cannot decode it, and %d are allowed for %s by %+v", allowed, reason, budgets)
		}
	}
	return nil
}

// poolState returns a state that the nodes of a pool can be in.
func poolState(r *rand.Rand) nodepool.State {
	nodes := oneOf(r, 0, 1, 2, 3, r.IntN(30), 100, 101, r.IntN(1000), r.IntN(200_000))
	state := nodepool.State{Nodes: nodes}
	if chance(r, 0.6) {
		state.Deleting = r.IntN(min(nodes, oneOf(r, 2, 10, nodes)) + 1)
		state.NotReady = r.IntN(min(nodes-state.Deleting, oneOf(r, 2, 10, nodes)) + 1)
	}
	return state
}

// question is what both sides are asked about a list of budgets.
type question struct {
	reason nodepool.Reason
	at     time.Time
	state  nodepool.State
}

// disrupting is how many nodes Karpenter subtracts, by NodePoolStatsFromNodes of its disruption controller.
func (q question) disrupting() int {
	if q.reason == nodepool.Reason(karpenterv1.DisruptionReasonUnhealthy) {
		return q.state.Deleting
	}
	return q.state.NotReady + q.state.Deleting
}

// check says where the two answers differ, and counts of which kind they are.
func (q question) check(evaluator *nodepool.Evaluator, pool *karpenterv1.NodePool, seen *tally) error {
	ceiling := pool.MustGetAllowedDisruptions(clockAt(q.at), q.state.Nodes, karpenterv1.DisruptionReason(q.reason))
	want := max(ceiling-q.disrupting(), 0)
	switch {
	case ceiling == math.MaxInt32:
		seen.add("unlimited")
	case want == 0:
		seen.add("none left")
	default:
		seen.add("limited")
	}
	if got := evaluator.Ceiling(q.reason, q.at, q.state.Nodes); got != ceiling {
		return fmt.Errorf("the ceiling is %d, and Karpenter's is %d", got, ceiling)
	}
	if got := evaluator.Allowed(q.reason, q.at, q.state); got != want {
		return fmt.Errorf("%d are allowed, and %d by Karpenter", got, want)
	}
	return nil
}

// checkRuling says where a ruling differs from the ceiling, or names other budgets than those that Karpenter's ceiling
// comes from: all that are an error, and where none is, all active ones for the reason with the least number.
func (q question) checkRuling(evaluator *nodepool.Evaluator, pool *karpenterv1.NodePool, seen *tally) error {
	errors, deciding, least := []int{}, []int{}, math.MaxInt32
	for i := range pool.Spec.Disruption.Budgets {
		budget := &pool.Spec.Disruption.Budgets[i]
		number, err := budget.GetAllowedDisruptions(clockAt(q.at), q.state.Nodes)
		if err != nil {
			errors = append(errors, i)
			continue
		}
		active, _ := budget.IsActive(clockAt(q.at))
		if !active || budget.Reasons != nil && !slices.Contains(budget.Reasons, karpenterv1.DisruptionReason(q.reason)) {
			continue
		}
		if number < least {
			least, deciding = number, nil
		}
		if number == least {
			deciding = append(deciding, i)
		}
	}
	want := nodepool.Ruling{Ceiling: least, Budgets: deciding}
	switch {
	case len(errors) > 0:
		seen.add("frozen")
		want = nodepool.Ruling{Ceiling: 0, Budgets: errors}
	case len(deciding) == 0:
		want = nodepool.Ruling{Unlimited: true}
	}
	got := evaluator.Ruling(q.reason, q.at, q.state.Nodes)
	if got.Unlimited != want.Unlimited || !want.Unlimited && got.Ceiling != want.Ceiling || !slices.Equal(got.Budgets, want.Budgets) {
		return fmt.Errorf("the ruling is %+v, and by Karpenter %+v", got, want)
	}
	return nil
}

// checkList asks both sides about a list.
func (q question) checkList(budgets nodepool.Budgets) error {
	decoded, err := karpenterBudgets(budgets)
	if err != nil {
		return nil
	}
	evaluator, pool := nodepool.NewEvaluator(budgets), poolOf(decoded)
	if err := q.check(evaluator, pool, &tally{}); err != nil {
		return err
	}
	return q.checkRuling(evaluator, pool, &tally{})
}

// minimal returns how the answers differ for the smallest list that shows it.
func (q question) minimal(budgets nodepool.Budgets) error {
	smallest := shrink(budgets, smallerBudgets, func(budgets nodepool.Budgets) bool { return q.checkList(budgets) != nil })
	return fmt.Errorf("for %s at %s with %+v: %w\nby the budgets %s", q.reason, q.at.Format(time.RFC3339Nano), q.state, q.checkList(smallest), budgetsText(smallest))
}

// budgetsText writes budgets for a failure message.
func budgetsText(budgets nodepool.Budgets) string {
	document, err := json.Marshal(budgets)
	if err != nil {
		return err.Error()
	}
	return string(document)
}

// TestSlowSchedules shows the same for schedules whose minutes or hours never match, about which the parser thinks long.
func TestSlowSchedules(t *testing.T) {
	pattern := schedulePattern(t)
	for _, schedule := range slowSchedules {
		require.Regexp(t, pattern, schedule)
		budgets := nodepool.Budgets{{Nodes: "3", Schedule: schedule, Duration: "1h"}, {Nodes: "10%"}}
		q := question{nodepool.Drifted, clocks[0].Now(), nodepool.State{Nodes: 100, NotReady: 1}}
		require.NoError(t, q.checkList(budgets), schedule)
	}
}

// TestAbsentBudgets shows that an absent list counts as the one that the API server fills in, and an empty one limits nothing.
func TestAbsentBudgets(t *testing.T) {
	crd, err := findCRD(karpenterNewest)
	require.NoError(t, err)
	filledIn := crd.structural.Properties["spec"].Properties["disruption"].Properties["budgets"].Default.Object
	var decoded []karpenterv1.Budget
	document, err := json.Marshal(filledIn)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(document, &decoded))
	absent, none := nodepool.NewEvaluator(nil), nodepool.NewEvaluator(nodepool.Budgets{})
	for nodes := range 500 {
		for _, reason := range allReasons {
			q := question{reason, clocks[0].Now(), nodepool.State{Nodes: nodes}}
			require.NoError(t, q.check(absent, poolOf(decoded), &tally{}))
			require.NoError(t, q.check(none, poolOf(nil), &tally{}))
		}
	}
}
