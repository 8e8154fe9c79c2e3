package conformance

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/json"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// The generators of budget lists as a cluster may hold them: whatever the patterns of the CRD let through, which is far
// more than Karpenter can work with, and what was stored before the CRD knew a rule.

// allReasons are the reasons that Karpenter asks for.
var allReasons = nodepool.V1_15.Reasons()

// storedBudgets returns a list of budgets, a few or as many as there may be.
func storedBudgets(r *rand.Rand, pattern *regexp.Regexp) nodepool.Budgets {
	budgets := nodepool.Budgets{}
	n := 1 + r.IntN(4)
	if chance(r, 0.01) {
		n = oneOf(r, 0, nodepool.MaxBudgets)
	}
	for range n {
		budgets = append(budgets, storedBudget(r, pattern))
	}
	return budgets
}

func storedBudget(r *rand.Rand, pattern *regexp.Regexp) nodepool.Budget {
	budget := nodepool.Budget{Nodes: storedNodes(r), Reasons: storedReasons(r)}
	if chance(r, 0.75) {
		budget.Schedule, budget.Duration = storedSchedule(r, pattern), storedDuration(r)
		switch {
		case chance(r, 0.02):
			budget.Schedule = ""
		case chance(r, 0.03):
			budget.Duration = ""
		}
	}
	return budget
}

func storedNodes(r *rand.Rand) string {
	if chance(r, 0.04) {
		return oneOf(r, "2147483647", "2147483648", "4294967295", "4294967296", "4294967301", "6442450944", "9223372036854775807",
			"9223372036854775808", strings.Repeat("9", 25), strings.Repeat("0", 30)+"3")
	}
	return budgetNodes(r)
}

func storedReasons(r *rand.Rand) nodepool.Reasons {
	switch r.IntN(20) {
	case 0:
		return nodepool.Reasons{}
	case 1:
		return nodepool.Reasons{oneOf[nodepool.Reason](r, "Expired", "empty", "", "Drifted ")}
	case 2:
		return nodepool.Reasons{nodepool.Drifted, "Expired", nodepool.Drifted}
	}
	if chance(r, 0.5) {
		return nil
	}
	return some(r, 1, 4, allReasons...)
}

// oddSchedules pass the pattern of the CRD. Some fire seldom or never, some are no schedules at all.
var oddSchedules = []string{
	"0 0 29 2 *", "0 0 29 2 ?", "30 12 29 FEB *", "*/20 6,18 29 2 *", "59 23 29 2 */1", "0 0 29 2 MON", "0 0 29 2 */2", "0 0 29 2 ,", "0 0 29 2,3 *", "15 0 28-31 2 ?",
	"0 0 31 2 *", "0 0 30 2 ?", "0 0 31 2 1", "0 0 31 4,6,9,11 *", "0 0 31 * *", "0 0 , * *", "0 0 , * MON", "0 0 * , *", "0 9 * * ,", "0 9 1 * ,", "0 9 * * *,", "0 9 ,1 * 1,",
	"59 23 31 12 *", "0 0 1 1 *", "0 0 1 1 MON", "0 0 13 * FRI", "0 0 13 * ?/1", "0 0 */2 * 1", "0 0 */1 * 1", "* * * * *", "*/7 * * * *", "0-59/59 * * * *", "0 0 1,15 */3 *",
	"@every 1h     ", "@every 90s    ", "@every 24h    ", "@every 8760h    ", "@every 100ms    ", "@every 1d     ", "@every -1h     ", "@every 9999999h     ",
	"@daily     ", "@yearlyx", "@weekly 1 2 3 4", "@hourly", "@annually", "a b c d e", "TZ=UTC 0 9 * * 1", "CRON_TZ=Asia/Tokyo 0 9 * * *", "0 9 * * 7", "0 9 * * SAT-SUN",
	"0 9 * * MON-FRI", "0 9 L * *", "0 24 * * *", "60 0 * * *", "0 9 1 13 *", "0 9 0 * *", "0 9 * * */0", "0 0 0 9 * * *", "    0 9 * * *", "0 9 * * *    ",
}

// slowSchedules make the parser step through five years by minutes or hours at each question, so they are asked little.
var slowSchedules = []string{", * * * *", ", 9 * * *", "  ,, , * * *", "0 , * * *", "*/30 , * * MON"}

// storedSchedule returns a schedule that matches the pattern of the CRD.
func storedSchedule(r *rand.Rand, pattern *regexp.Regexp) string {
	for {
		var schedule string
		switch r.IntN(8) {
		case 0, 1:
			schedule = oneOf(r, oddSchedules...)
		case 2:
			schedule = spacedSchedule(r)
		case 3:
			schedule = mutatedSchedule(r)
		case 4:
			schedule = blockSchedule(r)
		default:
			schedule = budgetSchedule(r)
		}
		if pattern.MatchString(schedule) {
			return schedule
		}
	}
}

// storedDuration returns a duration as the pattern of the CRD takes it: mostly one that some schedule comes near to.
func storedDuration(r *rand.Rand) string {
	if chance(r, 0.005) {
		return oneOf(r, "2562048h", "2562047h48m", "99999999999h", "153722868m") // past 64 bits
	}
	switch r.IntN(6) {
	case 0:
		return budgetDuration(r)
	case 1:
		return minutesText(r, 1+r.IntN(60))
	case 2:
		return minutesText(r, oneOf(r, 1, 7, 24, 48, 168, 24*28, 24*31, 24*365, 24*366, 24*365*4, 24*1461, 24*2922)*60+r.IntN(5)-2)
	}
	return minutesText(r, 1+r.IntN(oneOf(r, 12, 24, 7*24, 400*24)*60))
}

// isSlow reports whether the parser takes a millisecond and more to answer for the schedule.
func isSlow(schedule string) bool {
	parsed, err := cron.ParseStandard("TZ=UTC " + schedule)
	spec, isSpec := parsed.(*cron.SpecSchedule)
	return err == nil && isSpec && (spec.Minute == 0 || spec.Hour == 0)
}

// karpenterBudgets returns budgets as Karpenter decodes them, by its own types. It cannot decode a duration that is past
// 64 bits.
func karpenterBudgets(budgets nodepool.Budgets) ([]karpenterv1.Budget, error) {
	document, err := json.Marshal(budgets)
	if err != nil {
		return nil, err
	}
	var decoded []karpenterv1.Budget
	err = json.Unmarshal(document, &decoded)
	return decoded, err
}

// poolOf returns a pool of Karpenter's with these budgets and nothing else.
func poolOf(budgets []karpenterv1.Budget) *karpenterv1.NodePool {
	return &karpenterv1.NodePool{Spec: karpenterv1.NodePoolSpec{Disruption: karpenterv1.Disruption{Budgets: budgets}}}
}

// smallerBudgets makes a list smaller: by a budget, or by a part of one.
func smallerBudgets(budgets nodepool.Budgets) iter.Seq[nodepool.Budgets] {
	return func(yield func(nodepool.Budgets) bool) {
		for i := range budgets {
			if !yield(slices.Delete(slices.Clone(budgets), i, i+1)) {
				return
			}
		}
		for i, budget := range budgets {
			for _, smaller := range []nodepool.Budget{
				{Nodes: budget.Nodes, Schedule: budget.Schedule, Duration: budget.Duration},
				{Nodes: budget.Nodes, Reasons: budget.Reasons},
				{Nodes: "1", Reasons: budget.Reasons, Schedule: budget.Schedule, Duration: budget.Duration},
			} {
				changed := slices.Clone(budgets)
				changed[i] = smaller
				if fmt.Sprintf("%#v", smaller) != fmt.Sprintf("%#v", budget) && !yield(changed) {
					return
				}
			}
		}
	}
}

// instantOf returns a time at which something may happen to one of the budgets: when it fires or ends, a second and a
// nanosecond before and after, or else at the end of a day, a February or a year, or whenever.
func instantOf(r *rand.Rand, budgets []karpenterv1.Budget) time.Time {
	at := time.Unix(r.Int64N(4_418_064_000), 0).UTC() // 1970 to 2110
	switch r.IntN(10) {
	case 0:
		return nudged(r, time.Date(1970+r.IntN(140), time.Month(1+r.IntN(12)), 1, 0, 0, 0, 0, time.UTC))
	case 1:
		year := oneOf(r, 1972, 2000, 2024, 2028, 2092, 2096, 2097, 2098, 2099, 2100, 2103, 2104, 2108)
		return nudged(r, time.Date(year, oneOf(r, time.January, time.February, time.March), oneOf(r, 1, 28, 29), r.IntN(24), 0, 0, 0, time.UTC))
	case 2:
		return at.Add(time.Duration(r.Int64N(int64(time.Second))))
	}
	if len(budgets) == 0 {
		return at
	}
	budget := budgets[r.IntN(len(budgets))]
	if budget.Schedule == nil {
		return at
	}
	parsed, err := cron.ParseStandard("TZ=UTC " + *budget.Schedule)
	if err != nil {
		return at
	}
	firing := parsed.Next(at)
	if firing.IsZero() {
		return at
	}
	if budget.Duration != nil && chance(r, 0.5) {
		firing = firing.Add(budget.Duration.Duration)
		if firing.Year() > 2200 {
			return at
		}
	}
	return nudged(r, firing)
}

// nudged returns a time or one close to it.
func nudged(r *rand.Rand, at time.Time) time.Time {
	return at.Add(oneOf(r, 0, 0, time.Nanosecond, -time.Nanosecond, time.Second, -time.Second, time.Minute, -time.Minute))
}
