package nodepool

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"rackparams/pkg/schedule"
	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

// The rules for spec.disruption, by the names under which they are reported.
const (
	RuleNodesFormat      = "nodes-format"
	RuleNodesRange       = "nodes-range"
	RuleReasonsValue     = "reasons-value"
	RuleReasonsEmpty     = "reasons-empty"
	RuleReasonsDuplicate = "reasons-duplicate"
	RuleSchedulePair     = "schedule-pair"
	RuleScheduleInvalid  = "schedule-invalid"
	RuleDurationFormat   = "duration-format"
	RuleTooManyBudgets   = "too-many-budgets"
	RuleDisruptionField  = "disruption-field"
)

// MaxBudgets is how many budgets the CRD takes.
const MaxBudgets = 50

// NodesPattern is the CRD's pattern for the nodes of a budget.
const NodesPattern = `^((100|[0-9]{1,2})%|[0-9]+)$`

// Patterns of the CRD. They are compiled when first needed: most runs of a command need none.
var (
	nodesPattern            = lazyPattern(NodesPattern)
	schedulePattern         = lazyPattern(`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$`)
	budgetDurationPattern   = lazyPattern(`^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$`)
	durationPattern         = lazyPattern(`^([0-9]+(s|m|h))+$`)
	durationOrNeverPattern  = lazyPattern(`^(([0-9]+(s|m|h))+|Never)$`)
	maxDuration             = time.Duration(math.MaxInt64)
	maxDurationHours        = int64(maxDuration / time.Hour)
	errTooLong              = fmt.Sprintf("is longer than Karpenter can hold; write at most %dh", maxDurationHours)
	nodesExample            = `write a node count or a percentage from 0% to 100% in quotes, such as "5" or "10%"`
	budgetDurationExample   = `write hours and minutes, such as "8h", "90m" or "8h30m"`
	durationOrNeverExamples = `write whole hours, minutes or seconds, such as "720h", or "Never"`
)

func lazyPattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// DisruptionSchema says what spec.disruption must look like for Karpenter of version v.
func DisruptionSchema(v Version) *shape.Schema {
	return &shape.Schema{Kind: shape.Object, Rule: RuleDisruptionField, Fields: []shape.Field{
		{Name: "consolidationPolicy", Schema: &shape.Schema{Kind: shape.String, Check: checkPolicy(v)}},
		// The API server fills in 0s from 1.15 on; before, a disruption block without it is refused.
		{Name: "consolidateAfter", Schema: &shape.Schema{Kind: shape.String, Check: CheckDurationOrNever}, Required: v < V1_15},
		{Name: "budgets", Schema: budgetsSchema(v)},
	}}
}

func checkPolicy(v Version) func(string) string {
	known := shape.OneOf(v.ConsolidationPolicies()...)
	return func(text string) string {
		if text == "Balanced" && v < V1_14 {
			return fmt.Sprintf("%q is a policy from Karpenter 1.14 on, and this is %s; write one of %s", text, v, strings.Join(v.ConsolidationPolicies(), ", "))
		}
		return known(text)
	}
}

func budgetsSchema(v Version) *shape.Schema {
	budget := &shape.Schema{Kind: shape.Object, Fields: []shape.Field{
		// The API server would fill in 10%, which is hardly what the author of a budget without nodes means.
		{Name: "nodes", Schema: &shape.Schema{Kind: shape.String, Rule: RuleNodesFormat, Check: checkNodesFormat, Whole: checkNodesRange}, Required: true},
		{Name: "reasons", Schema: reasonsSchema(v)},
		{Name: "schedule", Schema: &shape.Schema{Kind: shape.String, Rule: RuleScheduleInvalid, Check: CheckSchedule}},
		{Name: "duration", Schema: &shape.Schema{Kind: shape.String, Rule: RuleDurationFormat, Check: checkBudgetDuration}},
	}, Whole: checkPair}
	return &shape.Schema{Kind: shape.List, Items: budget, Whole: func(node *yaml.Node, report shape.Report) {
		if n := len(node.Content); n > MaxBudgets {
			report(node, "", RuleTooManyBudgets, fmt.Sprintf("the list has %d budgets, %d at most are taken", n, MaxBudgets))
		}
	}}
}

func reasonsSchema(v Version) *shape.Schema {
	names := v.Reasons().Strings()
	check := func(text string) string {
		if text == string(Unhealthy) && v < V1_15 {
			return fmt.Sprintf("%q is a reason from Karpenter 1.15 on, and this is %s; write one of %s", text, v, strings.Join(names, ", "))
		}
		return shape.OneOf(names...)(text)
	}
	return &shape.Schema{
		Kind: shape.List, Rule: RuleReasonsValue, MaxItems: MaxBudgets,
		Items: &shape.Schema{Kind: shape.String, Check: check},
		Whole: func(node *yaml.Node, report shape.Report) {
			if len(node.Content) == 0 {
				report(node, "", RuleReasonsEmpty, "an empty list of reasons matches no disruption at all; leave reasons out to mean every reason")
			}
			seen := map[string]bool{}
			for i, reason := range node.Content {
				value := shape.Resolve(reason).Value
				if seen[value] {
					report(reason, "["+strconv.Itoa(i)+"]", RuleReasonsDuplicate, fmt.Sprintf("%q stands twice in the list; write it once", value))
				}
				seen[value] = true
			}
		},
	}
}

func checkNodesFormat(text string) string {
	if !nodesPattern().MatchString(text) {
		return shape.Quote(text) + " is not a node count or a percentage; " + nodesExample
	}
	return ""
}

func checkNodesRange(node *yaml.Node, report shape.Report) {
	if message := CheckNodeCount(node.Value); message != "" {
		report(node, "", RuleNodesRange, message)
	}
}

// CheckNodes says what is wrong with the nodes of a budget, or "".
func CheckNodes(nodes string) string {
	if message := checkNodesFormat(nodes); message != "" {
		return message
	}
	return CheckNodeCount(nodes)
}

// CheckNodeCount says what is wrong with the size of a budget's nodes, or "". Karpenter keeps a count in 32 bits: it
// wraps a larger one round, to 0 for 4294967296, and cannot read one past 64 bits at all, which freezes the pool.
func CheckNodeCount(nodes string) string {
	if strings.HasSuffix(nodes, "%") {
		return ""
	}
	n, err := strconv.Atoi(nodes)
	switch {
	case err != nil:
		return fmt.Sprintf(`%s is more than Karpenter can hold, and would stop every disruption of the pool; write at most "%d", or "100%%" for no limit`, shape.Quote(nodes), math.MaxInt32)
	case n > math.MaxInt32:
		return fmt.Sprintf(`%s is more than Karpenter can hold, and would be taken for %d; write at most "%d", or "100%%" for no limit`, shape.Quote(nodes), int32(n), math.MaxInt32)
	}
	return ""
}

// CheckSchedule says what is wrong with a budget's schedule, by the CRD's pattern and by Karpenter's parser, or "".
func CheckSchedule(text string) string {
	if !isPlainCron(text) && !schedulePattern().MatchString(text) {
		return fmt.Sprintf("the API server takes no schedule %s; write five fields, such as \"0 9 * * MON-FRI\", or a macro such as @daily", shape.Quote(text))
	}
	_, err := schedule.Parse(text)
	if err == nil {
		return ""
	}
	message := fmt.Sprintf("Karpenter cannot parse the schedule %s (%s), and would stop every disruption of the pool", shape.Quote(text), err)
	if fields := strings.Fields(text); len(fields) == 5 {
		if days := schedule.SuggestWeekdays(fields[4]); days != "" && days != fields[4] {
			message += fmt.Sprintf("; write %q for the weekday", days)
		}
	}
	return message
}

// isPlainCron reports whether a schedule is five words with a space between each: what nearly all are, and what the
// pattern, which takes long to match, takes.
func isPlainCron(text string) bool {
	words := 1
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' && i > 0 && text[i-1] != ' ' && i < len(text)-1:
			words++
		case c <= ' ' || c >= 0x7f:
			return false
		}
	}
	return words == 5
}

func checkBudgetDuration(text string) string {
	return checkDuration(text, budgetDurationPattern(), budgetDurationExample)
}

// SameDuration reports whether two texts are the same time, however they are written, or both Never.
func SameDuration(a, b string) bool {
	first, errA := time.ParseDuration(a)
	second, errB := time.ParseDuration(b)
	return a == b || errA == nil && errB == nil && first == second
}

// CheckDurationOrNever says what is wrong with the text of expireAfter or consolidateAfter, or "".
func CheckDurationOrNever(text string) string {
	if text == Never {
		return ""
	}
	return checkDuration(text, durationOrNeverPattern(), durationOrNeverExamples)
}

func checkDuration(text string, pattern *regexp.Regexp, example string) string {
	if !pattern.MatchString(text) {
		return shape.Quote(text) + " is not a duration that Karpenter takes; " + example
	}
	if _, err := time.ParseDuration(text); err != nil {
		return shape.Quote(text) + " " + errTooLong
	}
	return ""
}

func checkPair(node *yaml.Node, report shape.Report) {
	hasSchedule, hasDuration := shape.Given(node, "schedule") != nil, shape.Given(node, "duration") != nil
	if hasSchedule == hasDuration {
		return
	}
	given, missing := "schedule", "duration"
	if hasDuration {
		given, missing = missing, given
	}
	report(shape.Get(node, given), "", RuleSchedulePair, fmt.Sprintf("%s is given without %s; set both, or neither for a budget that always holds", given, missing))
}
