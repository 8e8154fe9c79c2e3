package nodepool

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// lintBudgets returns the warnings: what budgets that can be read do that their author may not mean.
func (m *Manifest) lintBudgets(v Version, now time.Time, read manifestSpec) []Finding {
	l := budgetLint{Manifest: m, read: read, evaluator: NewEvaluator(read.budgets), now: now, version: v}
	l.reasons = slices.DeleteFunc(v.Reasons(), func(reason Reason) bool {
		// Node repair is off by default, so that its reason counts only where the list names it.
		return reason == Unhealthy && !slices.ContainsFunc(read.budgets, func(b Budget) bool { return slices.Contains(b.Reasons, Unhealthy) })
	})
	l.lookAhead()
	for i := range l.evaluator.budgets {
		l.lintSchedule(i)
		l.lintSize(i)
		if l.neverDecides(i) {
			l.warn(RuleBudgetNeverDecides, i, fmt.Sprintf("the budget of %s never decides%s: %s; take it out, but not those that allow no more, or lower its nodes", l.describe(i), l.butForRepair(i), l.whyItNeverDecides(i)))
		}
	}
	l.lintZeroWindows()
	l.lintReasons()
	return l.findings
}

type budgetLint struct {
	*Manifest
	read      manifestSpec
	evaluator *Evaluator
	reasons   []Reason
	now       time.Time
	version   Version

	// segments are what is looked at, over a time that stands for all time: weekly says that it does so since every week is
	// like the next, and else reach says what it is.
	segments []segment
	weekly   bool
	reach    string
	// sets are the different sets of budgets that are active together at some time.
	sets     []activeSet
	findings []Finding
}

// at is where the i-th budget stands.
func (l *budgetLint) at(i int) (*yaml.Node, string) {
	if i < len(l.read.budgetNodes) {
		return l.read.budgetNodes[i], fmt.Sprintf("spec.disruption.budgets[%d]", i)
	}
	return l.read.budgetsNode, "spec.disruption.budgets"
}

func (l *budgetLint) add(severity Severity, rule string, i int, message string) {
	node, path := l.at(i)
	l.findings = append(l.findings, l.finding(severity, rule, path, node, message))
}

func (l *budgetLint) warn(rule string, i int, message string) {
	l.add(SeverityWarning, rule, i, message)
}

// describe names the i-th budget for a message.
func (l *budgetLint) describe(i int) string {
	b := l.evaluator.budgets[i]
	text := "nodes " + b.Nodes
	if b.Schedule != "" {
		text += fmt.Sprintf(" (%s for %s)", b.Schedule, b.Duration)
	}
	return text
}

// maxChanges bounds how many openings and ends of windows are looked at, where the time can be cut short. Only schedules
// made for it come near.
const maxChanges = 1_000_000

// lookAhead cuts the time that is looked at into segments.
func (l *budgetLint) lookAhead() {
	l.weekly = true
	for i := range l.evaluator.budgets {
		if b := &l.evaluator.budgets[i]; b.scheduled {
			l.weekly = l.weekly && b.windows.RepeatsWeekly()
		}
	}
	// Two weeks show each span of one week whole.
	from := mondayOf(l.now)
	to := from.AddDate(0, 0, 14)
	if !l.weekly {
		from = time.Date(l.now.UTC().Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
		to = from.AddDate(28, 0, 0)
		if days := maxChanges / l.evaluator.ChangesPerDay(); days < 28*365 {
			to = from.AddDate(0, 0, max(days, 62))
		}
	}
	l.segments = l.evaluator.sweep(from, to)
	seen := map[activeSet]bool{}
	for i, s := range l.segments {
		if seen[s.active] {
			continue
		}
		if len(l.sets) == maxSets {
			l.segments, to, l.weekly = l.segments[:i], s.from, false
			break
		}
		seen[s.active] = true
		l.sets = append(l.sets, s.active)
	}
	l.reach = fmt.Sprintf("from %s to %s", from.Format(time.DateOnly), to.Format(time.DateOnly))
}

// maxSets is how many sets of budgets that are active together are looked at.
const maxSets = 10_000

func mondayOf(t time.Time) time.Time {
	year, month, day := t.UTC().Date()
	return time.Date(year, month, day-int(t.UTC().Weekday()+6)%7, 0, 0, 0, 0, time.UTC)
}

// decided says, behind a message, how far it reaches where that is not for good.
func (l *budgetLint) decided() string {
	if l.weekly {
		return ""
	}
	return " (decided " + l.reach + ")"
}

// lintSchedule looks at the schedule of the i-th budget by itself.
func (l *budgetLint) lintSchedule(i int) {
	b := &l.evaluator.budgets[i]
	switch {
	case !b.scheduled:
	case b.windows.Impossible():
		l.warn(RuleWindowNeverLifts, i, fmt.Sprintf("the schedule %q never fires, and Karpenter takes such a budget to be always active; leave schedule and duration out if that is meant", b.Schedule))
	case b.windows.Always():
		l.warn(RuleWindowNeverLifts, i, fmt.Sprintf("the windows of %q for %s join up, so the budget is always active; shorten the duration, or leave both out if that is meant", b.Schedule, b.Duration))
	case b.windows.FiresInside():
		l.warn(RuleFiringInsideWindow, i, fmt.Sprintf("%q fires again inside its own window of %s, and each firing makes it longer; write one window for the whole span, or a shorter duration", b.Schedule, b.Duration))
	}
}

// lintSize looks at a percentage that is one node on small pools.
func (l *budgetLint) lintSize(i int) {
	b := &l.evaluator.budgets[i]
	if !b.percent || b.size < 1 || b.size > 50 || b.reasons == setOf(Unhealthy) {
		return
	}
	l.add(SeverityInfo, RuleSmallPoolFreeze, i, fmt.Sprintf(
		"%s is 1 node on a pool of %d nodes or fewer, and one that is NotReady or being deleted uses it up; a count of 2 or more leaves room for it", b.Nodes, 100/b.size))
}

// lintZeroWindows looks at windows that stop disruption altogether.
func (l *budgetLint) lintZeroWindows() {
	for i := range l.evaluator.budgets {
		b := &l.evaluator.budgets[i]
		if !b.scheduled || b.size != 0 || b.windows.Never() {
			continue
		}
		if b.counts(setOf(Drifted)) && l.read.expireAfter != Never {
			l.warn(RuleExpiryNotCovered, i, fmt.Sprintf(
				"the window of %s stops drift, but not expiry: with expireAfter %s a node that reaches it is deleted inside the window, since expiry reads no budget; write expireAfter: Never if the window has to hold", l.describe(i), l.read.expireAfter))
		}
		// A window for empty nodes alone is meant as it is.
		if b.counts(setOf(Empty)) && b.counts(setOf(Drifted)|setOf(Underutilized)) {
			l.warn(RuleEmptyBlocked, i, fmt.Sprintf(
				"the window of %s also stops the removal of empty nodes, which evicts nothing and saves money; list reasons: [Drifted, Underutilized] to leave it out", l.describe(i)))
		}
	}
}

// lintReasons looks at each reason over all time: is it ever allowed, and is it ever without a limit?
func (l *budgetLint) lintReasons() {
	var blocked []string
	blocking := 0
	unconstrained := map[string][]string{}
	var spans []string
	for _, reason := range l.reasons {
		set := setOf(reason)
		if i, always := l.alwaysZero(set); always {
			blocked, blocking = append(blocked, string(reason)), i
		}
		if span, found := l.firstUnconstrained(set); found {
			if unconstrained[span] == nil {
				spans = append(spans, span)
			}
			unconstrained[span] = append(unconstrained[span], string(reason))
		}
	}
	if blocked != nil {
		l.warn(RuleBlockedAlways, blocking, fmt.Sprintf("disruption for %s is never allowed, at any time: a budget of 0 is always active for it; give the budget a schedule, or another count, if that is not meant%s",
			strings.Join(blocked, " and "), l.decided()))
	}
	for _, span := range spans {
		findings := len(l.findings)
		l.warn(RuleReasonUnconstrained, math.MaxInt, fmt.Sprintf("no budget limits %s %s, so Karpenter may disrupt every node of the pool at once for it; add a budget without schedule and reasons, such as nodes: \"10%%\"%s",
			strings.Join(unconstrained[span], " and "), span, l.decided()))
		l.findings[findings].Path = "spec.disruption.budgets"
	}
}

// alwaysZero reports whether at every time a budget of no nodes is active for the reasons of set, and names one.
func (l *budgetLint) alwaysZero(set reasonSet) (budget int, always bool) {
	zero := l.those(func(b *evaluatedBudget) bool { return b.size == 0 && b.counts(set) })
	for _, active := range l.sets {
		if active&zero == 0 {
			return 0, false
		}
		budget = bits.TrailingZeros64(active & zero)
	}
	return budget, len(l.sets) > 0
}

// those is the set of the budgets of which something holds.
func (l *budgetLint) those(holds func(b *evaluatedBudget) bool) activeSet {
	var set activeSet
	for i := range l.evaluator.budgets {
		if holds(&l.evaluator.budgets[i]) {
			set |= 1 << i
		}
	}
	return set
}

// firstUnconstrained returns, in words, the first span in which no budget is active for the reasons of set.
func (l *budgetLint) firstUnconstrained(set reasonSet) (span string, found bool) {
	counting := l.those(func(b *evaluatedBudget) bool { return b.counts(set) })
	free := func(s segment) bool { return s.active&counting == 0 }
	first := -1
	for i, s := range l.segments {
		// The very first span may have begun before, so another one is named where there is one.
		if free(s) && (first < 0 || first == 0 && !free(l.segments[i-1])) {
			first = i
		}
	}
	if first < 0 {
		return "", false
	}
	last := first
	for last+1 < len(l.segments) && free(l.segments[last+1]) {
		last++
	}
	from, to := l.segments[first].from, l.segments[last].to
	switch {
	case first == 0 && last == len(l.segments)-1:
		return "at any time", true
	case l.weekly:
		return fmt.Sprintf("from %s to %s UTC each week", from.Format("Mon 15:04"), to.Format("Mon 15:04")), true
	}
	return fmt.Sprintf("from %s to %s UTC", from.Format("2006-01-02 15:04"), to.Format("2006-01-02 15:04")), true
}

// neverDecides reports whether the list without the i-th budget has the same ceilings, for every reason, at every time, on
// every pool of one node or more.
func (l *budgetLint) neverDecides(i int) bool {
	b := &l.evaluator.budgets[i]
	for _, reason := range l.reasons {
		if !b.counts(setOf(reason)) {
			continue
		}
		for _, active := range l.sets {
			if active>>i&1 == 1 && !l.covered(i, active&^(1<<i), setOf(reason)) {
				return false
			}
		}
	}
	return true
}

// covered reports whether, on every pool of one node or more, some active budget for the reasons of set allows no more
// than the i-th.
func (l *budgetLint) covered(i int, active activeSet, set reasonSet) bool {
	count, percent := math.MaxInt, math.MaxInt
	for ; active != 0; active &= active - 1 {
		switch other := &l.evaluator.budgets[bits.TrailingZeros64(active)]; {
		case !other.counts(set):
		case other.percent:
			percent = min(percent, other.size)
		default:
			count = min(count, other.size)
		}
	}
	b := &l.evaluator.budgets[i]
	if !b.percent {
		// A percentage but 0 outgrows every count.
		return count <= b.size || percent == 0
	}
	return percent <= b.size || count <= b.leastBelow(percent)
}

// leastBelow returns the least ceiling of a percentage among the pools on which a higher percentage allows more. A count
// up to it decides on those pools before either does; one above it leaves a pool on which this percentage decides.
func (b *evaluatedBudget) leastBelow(higher int) int {
	if higher == math.MaxInt {
		return b.ceiling(1)
	}
	other := evaluatedBudget{percent: true, size: higher}
	// Two percentages that differ allow different numbers on a pool of 100.
	for nodes := 1; nodes < 100; nodes++ {
		if b.ceiling(nodes) < other.ceiling(nodes) {
			return b.ceiling(nodes)
		}
	}
	return b.ceiling(100)
}

// butForRepair says so where a budget counts for the repair of nodes too, which is not judged while it is off.
func (l *budgetLint) butForRepair(i int) string {
	if l.version >= V1_15 && l.evaluator.budgets[i].counts(setOf(Unhealthy)) && !slices.Contains(l.reasons, Unhealthy) {
		return " (but for Unhealthy, should node repair be on)"
	}
	return ""
}

func (l *budgetLint) whyItNeverDecides(i int) string {
	if b := &l.evaluator.budgets[i]; b.scheduled && b.windows.Never() {
		return "its window is over as soon as it opens"
	}
	return "whenever it is active, another budget allows no more, on any pool" + l.decided()
}
