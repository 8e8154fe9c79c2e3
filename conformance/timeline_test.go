package conformance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"
	"time"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/schedule"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestTimelines shows that a timeline is what Karpenter says at each of its instants: its spans join end to end over the
// time asked for, neighbours differ, and the ceiling of each is Karpenter's.
func TestTimelines(t *testing.T) {
	pattern := schedulePattern(t)
	var seen tally
	forEachCase(t, 1500, func(r *rand.Rand) error {
		budgets, decoded := readableBudgets(r, pattern)
		at := instantOf(r, decoded)
		to := at.Add(timelineLength(r, nodepool.NewEvaluator(budgets)))
		nodes := oneOf(r, 1, 3, 10, 100, 997)
		if err := checkTimelines(budgets, at, to, nodes, r.Uint64(), &seen); err != nil {
			again := r.Uint64()
			smallest := shrink(budgets, smallerBudgets, func(budgets nodepool.Budgets) bool {
				return checkTimelines(budgets, at, to, nodes, again, &tally{}) != nil
			})
			if smallErr := checkTimelines(smallest, at, to, nodes, again, &tally{}); smallErr != nil {
				budgets, err = smallest, smallErr
			}
			return fmt.Errorf("on %d nodes from %s to %s: %w\nby the budgets %s", nodes, at.Format(time.RFC3339Nano), to.Format(time.RFC3339Nano), err, budgetsText(budgets))
		}
		return nil
	})
	t.Logf("%d timelines of one span, %d of more, %d longer than a year; %d instants", seen.of("one"), seen.of("more"), seen.of("years"), seen.of("instants"))
	seen.requireAll(t, []string{"one", "more", "years"})
}

// readableBudgets returns a list of budgets that Karpenter can decode and ask without thinking long.
func readableBudgets(r *rand.Rand, pattern *regexp.Regexp) (nodepool.Budgets, []karpenterv1.Budget) {
	for {
		budgets := storedBudgets(r, pattern)
		decoded, err := karpenterBudgets(budgets)
		if err == nil && !slices.ContainsFunc(budgets, func(b nodepool.Budget) bool { return isSlow(b.Schedule) }) {
			return budgets, decoded
		}
	}
}

// timelineLength returns how long a timeline is to be: from hours to three years, and no more than has some thousand
// changes.
func timelineLength(r *rand.Rand, evaluator *nodepool.Evaluator) time.Duration {
	const changes = 5000
	days := oneOf(r, 1, 8, 60, 366, 3*366)
	length := time.Duration(1+r.Int64N(int64(days)*24*3600)) * time.Second
	if perDay := evaluator.ChangesPerDay(); perDay > 0 {
		length = min(length, time.Duration(float64(24*time.Hour)*changes/float64(perDay)).Truncate(time.Second))
	}
	return length
}

// checkTimelines holds the timelines of all reasons against Karpenter.
func checkTimelines(budgets nodepool.Budgets, from, to time.Time, nodes int, seed uint64, seen *tally) error {
	decoded, err := karpenterBudgets(budgets)
	if err != nil {
		return nil
	}
	pool := poolOf(decoded)
	r := rand.New(rand.NewPCG(seed, 0))
	timelines := nodepool.NewEvaluator(budgets).Timelines(allReasons, from, to, nodes)
	for i, reason := range allReasons {
		ceiling := func(at time.Time) int {
			return pool.MustGetAllowedDisruptions(clockAt(at), nodes, karpenterv1.DisruptionReason(reason))
		}
		if err := checkTimeline(timelines[i], from, to, ceiling, r, seen); err != nil {
			return fmt.Errorf("%s: %w", reason, err)
		}
	}
	return nil
}

// checkTimeline holds a timeline against the ceilings. It is of whole seconds, as Karpenter's windows are.
func checkTimeline(spans []nodepool.RuledSpan, from, to time.Time, ceiling func(time.Time) int, r *rand.Rand, seen *tally) error {
	from, to = from.Truncate(time.Second), to.Truncate(time.Second)
	if len(spans) == 0 || !spans[0].From.Equal(from) || !spans[len(spans)-1].To.Equal(to) {
		return fmt.Errorf("the spans %v do not begin and end as asked for", spans[:min(len(spans), 3)])
	}
	seen.add(map[bool]string{true: "one", false: "more"}[len(spans) == 1])
	if to.Sub(from) > 366*24*time.Hour {
		seen.add("years")
	}
	for i, span := range spans {
		switch {
		case !span.From.Before(span.To):
			return fmt.Errorf("the span from %s to %s is empty", span.From, span.To)
		case i == 0:
		case !span.From.Equal(spans[i-1].To):
			return fmt.Errorf("the span from %s follows one to %s", span.From, spans[i-1].To)
		case span.Unlimited == spans[i-1].Unlimited && span.Ceiling == spans[i-1].Ceiling && slices.Equal(span.Budgets, spans[i-1].Budgets):
			return fmt.Errorf("the spans on either side of %s are the same: %+v", span.From, span.Ruling)
		}
	}
	for _, i := range sample(r, len(spans), 60) {
		span := spans[i]
		for _, at := range inside(r, span.From, span.To, 2) {
			seen.add("instants")
			if got, want := ruledCeiling(span.Ruling), ceiling(at); got != want {
				return fmt.Errorf("at %s, in the span from %s to %s, the ceiling is %d, and Karpenter's is %d", at.Format(time.RFC3339Nano), span.From, span.To, got, want)
			}
		}
	}
	return nil
}

// ruledCeiling is the number that Karpenter has for a ruling.
func ruledCeiling(ruling nodepool.Ruling) int {
	if ruling.Unlimited {
		return math.MaxInt32
	}
	return ruling.Ceiling
}

// inside returns times in [from, to): the first, a second later, the last second, the very last instant, and n others.
func inside(r *rand.Rand, from, to time.Time, n int) []time.Time {
	times := []time.Time{from, to.Add(-time.Second), to.Add(-time.Nanosecond)}
	if later := from.Add(time.Second); later.Before(to) {
		times = append(times, later)
	}
	for range n {
		times = append(times, from.Add(time.Duration(r.Int64N(int64(to.Sub(from))))))
	}
	return times
}

// sample returns the places of n of so many things, or of all where there are fewer.
func sample(r *rand.Rand, things, n int) []int {
	if things <= n {
		n = things
	}
	return r.Perm(things)[:n]
}

// TestWindowSpans shows that a budget is active, by Karpenter's own code, in the spans of its windows and at no other time.
func TestWindowSpans(t *testing.T) {
	pattern := schedulePattern(t)
	var seen tally
	forEachCase(t, 6000, func(r *rand.Rand) error {
		budgets, decoded := readableBudgets(r, pattern)
		for i, budget := range budgets {
			parsed, err := schedule.Parse(budget.Schedule)
			if err != nil {
				continue
			}
			windows := schedule.NewWindows(parsed, durationOf(decoded[i]))
			from := instantOf(r, decoded[i:i+1]).Truncate(time.Second)
			to := from.Add(timelineLength(r, nodepool.NewEvaluator(budgets[i:i+1])))
			if err := checkWindows(decoded[i], windows, from, to, r, &seen); err != nil {
				return fmt.Errorf("from %s to %s: %w\nby the budget %s", from, to, err, budgetsText(budgets[i:i+1]))
			}
		}
		return nil
	})
	t.Logf("%d times always active, %d never, %d partly; %d instants", seen.of("always"), seen.of("never"), seen.of("partly"), seen.of("instants"))
	seen.requireAll(t, []string{"always", "never", "partly"})
}

// durationOf returns how long a window of the budget is, which is no time where it does not say.
func durationOf(budget karpenterv1.Budget) time.Duration {
	if budget.Duration == nil {
		return 0
	}
	return budget.Duration.Duration
}

// checkWindows holds the spans of a budget's windows, and the times between them, against IsActive.
func checkWindows(budget karpenterv1.Budget, windows schedule.Windows, from, to time.Time, r *rand.Rand, seen *tally) error {
	type stretch struct {
		schedule.Span
		active bool
	}
	var stretches []stretch
	end := from
	spans := windows.Spans(from, to)
	for _, span := range spans {
		if !span.From.Before(span.To) || span.From.Before(end) || span.To.After(to) || len(stretches) > 0 && span.From.Equal(end) {
			return fmt.Errorf("the span from %s to %s is empty, outside or touches the one before, which ends at %s", span.From, span.To, end)
		}
		if end.Before(span.From) {
			stretches = append(stretches, stretch{schedule.Span{From: end, To: span.From}, false})
		}
		stretches = append(stretches, stretch{span, true})
		end = span.To
	}
	if end.Before(to) {
		stretches = append(stretches, stretch{schedule.Span{From: end, To: to}, false})
	}
	switch {
	case len(stretches) > 1:
		seen.add("partly")
	case stretches[0].active:
		seen.add("always")
	default:
		seen.add("never")
	}
	for _, i := range sample(r, len(stretches), 60) {
		for _, at := range inside(r, stretches[i].From, stretches[i].To, 2) {
			seen.add("instants")
			active, err := budget.IsActive(clockAt(at))
			if err != nil {
				return err
			}
			if active != stretches[i].active || windows.Active(at) != active {
				return fmt.Errorf("at %s Karpenter has active %t, the spans %t, and Active is %t", at.Format(time.RFC3339Nano), active, stretches[i].active, windows.Active(at))
			}
		}
	}
	return nil
}

// TestTimelineMinutes steps through a week, minute by minute, so that no change between the ends of spans is missed.
func TestTimelineMinutes(t *testing.T) {
	pattern := schedulePattern(t)
	forEachCase(t, 40, func(r *rand.Rand) error {
		budgets, decoded := readableBudgets(r, pattern)
		pool := poolOf(decoded)
		from := instantOf(r, decoded).Truncate(time.Minute)
		spans := nodepool.NewEvaluator(budgets).Timeline(nodepool.Drifted, from, from.Add(week), 10)
		for at := from; at.Before(from.Add(week)); at = at.Add(time.Minute) {
			for !at.Before(spans[0].To) {
				spans = spans[1:]
			}
			if got, want := ruledCeiling(spans[0].Ruling), pool.MustGetAllowedDisruptions(clockAt(at), 10, karpenterv1.DisruptionReasonDrifted); got != want {
				return fmt.Errorf("at %s the ceiling is %d, and Karpenter's is %d, by the budgets %s", at, got, want, budgetsText(budgets))
			}
		}
		return nil
	})
}

// TestNextChange shows that the ceiling stays what it is up to the next change, and is another there.
func TestNextChange(t *testing.T) {
	pattern := schedulePattern(t)
	var seen tally
	forEachCase(t, 1000, func(r *rand.Rand) error {
		budgets, decoded := readableBudgets(r, pattern)
		pool, at, reason := poolOf(decoded), instantOf(r, decoded), oneOf(r, allReasons...)
		evaluator := nodepool.NewEvaluator(budgets)
		unlimited := func(b nodepool.Budget) bool { return b.Nodes == fmt.Sprint(math.MaxInt32) }
		if evaluator.ChangesPerDay() > 200 || slices.ContainsFunc(budgets, unlimited) {
			// It looks ahead for years where nothing changes; and a budget of what is Karpenter's number for no limit is a limit
			// that the number does not show.
			return nil
		}
		ceiling := func(at time.Time) int {
			return pool.MustGetAllowedDisruptions(clockAt(at), 100, karpenterv1.DisruptionReason(reason))
		}
		change, found := evaluator.NextChange(reason, at, 100)
		until := change
		if !found {
			seen.add("none")
			until = at.AddDate(9, 0, 0)
		} else if seen.add("found"); ceiling(change) == ceiling(change.Add(-time.Nanosecond)) {
			return fmt.Errorf("there is no change for %s at %s by the budgets %s", reason, change, budgetsText(budgets))
		}
		for _, between := range inside(r, at, until, 60) {
			if ceiling(between) != ceiling(at) {
				return fmt.Errorf("for %s it changes from %s to %s already, not at %s (found: %t), by the budgets %s", reason, at, between, change, found, budgetsText(budgets))
			}
		}
		return nil
	})
	t.Logf("%d found, %d times none", seen.of("found"), seen.of("none"))
	seen.requireAll(t, []string{"found", "none"})
}

// TestLeapDayCentury names the one time at which the parser's five years matter: round 2100, which is no leap year, a
// budget of the 29th of February stays active for years, by Karpenter's own code, however short its window.
func TestLeapDayCentury(t *testing.T) {
	for _, duration := range []string{"0m", "1m", "24h", "8784h", "35064h"} {
		budgets := nodepool.Budgets{{Nodes: "0", Schedule: "0 0 29 2 *", Duration: duration}}
		decoded, err := karpenterBudgets(budgets)
		require.NoError(t, err)
		parsed, err := schedule.Parse(budgets[0].Schedule)
		require.NoError(t, err)
		windows := schedule.NewWindows(parsed, durationOf(decoded[0]))
		from, to := time.Date(2088, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2112, 1, 1, 0, 0, 0, 0, time.UTC)
		assert.NoError(t, checkWindows(decoded[0], windows, from, to, rand.New(rand.NewPCG(1, 2)), &tally{}), "for %s", duration)
		spans := windows.Spans(from, to)
		for at := from; at.Before(to); at = at.Add(24 * time.Hour) {
			want, err := decoded[0].IsActive(clockAt(at))
			require.NoError(t, err)
			inSpan := slices.ContainsFunc(spans, func(s schedule.Span) bool { return !at.Before(s.From) && at.Before(s.To) })
			if windows.Active(at) != want || inSpan != want {
				t.Errorf("for %s, at %s Karpenter has active %t, Active is %t, and by the spans it is %t", duration, at, want, windows.Active(at), inSpan)
				break
			}
		}
	}
}
