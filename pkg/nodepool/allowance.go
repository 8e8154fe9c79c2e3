package nodepool

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackparams/pkg/schedule"
	"rackparams/pkg/shape"
)

// Evaluator answers what a list of budgets allows, as Karpenter does at each pass of its disruption loop. Karpenter
// parses every schedule again on every question; an Evaluator has parsed them once.
type Evaluator struct {
	budgets []evaluatedBudget
}

// Len is how many budgets there are.
func (e *Evaluator) Len() int { return len(e.budgets) }

// evaluatedBudget is a budget made ready to be asked.
type evaluatedBudget struct {
	Budget
	reasons   reasonSet
	scheduled bool
	windows   schedule.Windows
	percent   bool
	size      int
	// broken says why Karpenter cannot tell whether the budget is active. It then allows nothing, for any reason.
	broken string
	// sizeless says why Karpenter cannot read nodes. It then allows nothing, for any reason, while the budget is active.
	sizeless string
}

// reasonSet is a set of reasons.
type reasonSet uint8

const everyReason reasonSet = math.MaxUint8

// setOf returns the set that holds just reason. A reason that Karpenter does not know is in no set but everyReason.
func setOf(reason Reason) reasonSet {
	switch reason {
	case Empty:
		return 1
	case Underutilized:
		return 2
	case Drifted:
		return 4
	case Unhealthy:
		return 8
	}
	return 0
}

// State is the state of a pool's nodes, as far as budgets look at it. Only nodes that Karpenter manages and that are
// initialized count.
type State struct {
	// Nodes is how many nodes the pool has.
	Nodes int
	// Deleting is how many of them are marked for deletion, and NotReady how many of the others are not ready.
	NotReady, Deleting int
}

// disrupting is how many nodes use up an allowance for the reason. Those that are not ready use up none for Unhealthy:
// repairing them is what that reason is for.
func (s State) disrupting(reason Reason) int {
	if reason == Unhealthy {
		return s.Deleting
	}
	return s.NotReady + s.Deleting
}

// Effective returns the budgets that hold: those given, or for an absent list the one that the API server fills in.
func Effective(budgets Budgets) Budgets {
	if budgets == nil {
		return Budgets{{Nodes: DefaultNodes}}
	}
	return budgets
}

// NewEvaluator makes budgets ready; for an absent list, those that the API server fills in.
func NewEvaluator(budgets Budgets) *Evaluator {
	budgets = Effective(budgets)
	e := &Evaluator{budgets: make([]evaluatedBudget, len(budgets))}
	for i, budget := range budgets {
		e.budgets[i] = evaluate(budget)
	}
	return e
}

func evaluate(b Budget) evaluatedBudget {
	e := evaluatedBudget{Budget: b, reasons: everyReason}
	if b.Reasons != nil {
		e.reasons = 0
		for _, reason := range b.Reasons {
			e.reasons |= setOf(reason)
		}
	}
	e.size, e.percent, e.sizeless = readNodes(b.Nodes)
	if b.Schedule == "" && b.Duration == "" {
		return e
	}
	e.scheduled = true
	parsed, err := schedule.Parse(b.Schedule)
	if err != nil {
		e.broken = fmt.Sprintf("Karpenter cannot parse the schedule %s: %s", shape.Quote(b.Schedule), err)
		return e
	}
	var duration time.Duration
	if b.Duration != "" {
		if duration, err = time.ParseDuration(b.Duration); err != nil || duration%time.Second != 0 {
			e.broken = fmt.Sprintf("Karpenter cannot read the duration %s", shape.Quote(b.Duration))
			return e
		}
	}
	e.windows = schedule.NewWindows(parsed, duration)
	return e
}

// readNodes reads the nodes of a budget as Karpenter does, down to how it keeps counts in 32 bits.
func readNodes(text string) (size int, percent bool, problem string) {
	if n, err := strconv.Atoi(text); err == nil {
		return int(int32(n)), false, ""
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	if !percent || err != nil {
		return 0, false, fmt.Sprintf("Karpenter cannot read the nodes %s, which holds while the budget is active", shape.Quote(text))
	}
	return n, true, ""
}

// AllowsNothing reports whether the nodes of a budget are 0, as a count or a percentage, however written.
func AllowsNothing(nodes string) bool {
	size, _, problem := readNodes(nodes)
	return problem == "" && size == 0
}

// counts reports whether the budget counts for a reason.
func (b *evaluatedBudget) counts(set reasonSet) bool {
	return b.reasons == everyReason || b.reasons&set != 0
}

func (b *evaluatedBudget) active(at time.Time) bool {
	return !b.scheduled || b.windows.Active(at)
}

// ceiling is how many nodes the budget lets be disrupted at once while it is active, on a pool of so many nodes. A
// percentage is rounded up.
func (b *evaluatedBudget) ceiling(nodes int) int {
	if b.percent {
		return int(math.Ceil(float64(b.size) * float64(nodes) / 100))
	}
	return b.size
}

// Unlimited is the ceiling where no budget sets one: the number that Karpenter then counts with.
const Unlimited = math.MaxInt32

// Ceiling returns how many nodes of a pool the budgets let be disrupted at once for a reason, at a time: the least that
// an active budget for the reason says, or Unlimited. It is 0 where a budget of the list, for whatever reason, cannot be
// read.
func (e *Evaluator) Ceiling(reason Reason, at time.Time, nodes int) int {
	set := setOf(reason)
	least := Unlimited
	for i := range e.budgets {
		b := &e.budgets[i]
		if b.broken != "" {
			return 0
		}
		switch {
		case !b.counts(set) && b.sizeless == "", !b.active(at):
		case b.sizeless != "":
			return 0
		default:
			least = min(least, b.ceiling(nodes))
		}
	}
	return least
}

// Allowed returns how many more nodes of a pool may be disrupted for a reason, at a time: the ceiling less the nodes that
// use it up, and never less than 0. Where no budget sets a ceiling it is Unlimited less those nodes.
func (e *Evaluator) Allowed(reason Reason, at time.Time, state State) int {
	return max(e.Ceiling(reason, at, state.Nodes)-state.disrupting(reason), 0)
}

// Error says that a budget of a list cannot be read.
type Error struct {
	// Index is the place of the budget in the list, from 0.
	Index   int
	Message string
}

func (e Error) Error() string { return fmt.Sprintf("budgets[%d]: %s", e.Index, e.Message) }

// Errors returns what Karpenter cannot read of the budgets. As long as there is any, nothing is allowed for any reason
// (for one whose nodes cannot be read, while that one is active).
func (e *Evaluator) Errors() []Error {
	var list []Error
	for i := range e.budgets {
		for _, message := range []string{e.budgets[i].broken, e.budgets[i].sizeless} {
			if message != "" {
				list = append(list, Error{i, message})
			}
		}
	}
	return list
}

// Ruling is what the budgets say for a reason over some time.
type Ruling struct {
	// Unlimited is set where no budget sets a ceiling. Ceiling is then of no meaning.
	Unlimited bool
	Ceiling   int
	// Budgets are the places, in the list, of the budgets that set the ceiling: the least ones, or those that cannot be
	// read.
	Budgets []int
}

// same reports whether two rulings let the same number of nodes be disrupted.
func (r Ruling) same(other Ruling) bool {
	return r.Unlimited == other.Unlimited && (r.Unlimited || r.Ceiling == other.Ceiling)
}

// activeSet is a set of budgets, by their places.
type activeSet = uint64

// maxSwept is how many budgets can be looked at over time; the API server takes 50.
const maxSwept = 64

// ruling is what a set of active budgets says for a reason.
func (e *Evaluator) ruling(active activeSet, reason Reason, nodes int) Ruling {
	set := setOf(reason)
	least, unreadable := Unlimited, []int(nil)
	deciding := []int{}
	for i := range e.budgets {
		b := &e.budgets[i]
		isActive := active>>i&1 == 1
		if b.broken != "" || b.sizeless != "" && isActive {
			unreadable = append(unreadable, i)
			continue
		}
		if !isActive || !b.counts(set) {
			continue
		}
		switch ceiling := b.ceiling(nodes); {
		case len(deciding) == 0 || ceiling < least:
			least, deciding = ceiling, append(deciding[:0], i)
		case ceiling == least:
			deciding = append(deciding, i)
		}
	}
	switch {
	case unreadable != nil:
		return Ruling{Ceiling: 0, Budgets: unreadable}
	case len(deciding) == 0:
		return Ruling{Unlimited: true, Budgets: deciding}
	}
	return Ruling{Ceiling: least, Budgets: deciding}
}

// activeAt is the set of the budgets that are active at a time.
func (e *Evaluator) activeAt(at time.Time) activeSet {
	var active activeSet
	for i := range e.budgets[:min(len(e.budgets), maxSwept)] {
		if e.budgets[i].broken == "" && e.budgets[i].active(at) {
			active |= 1 << i
		}
	}
	return active
}

// Ruling returns what the budgets say for a reason at a time, on a pool of so many nodes.
func (e *Evaluator) Ruling(reason Reason, at time.Time, nodes int) Ruling {
	return e.ruling(e.activeAt(at), reason, nodes)
}

// segment is a span of time over which the same budgets are active.
type segment struct {
	from, to time.Time
	active   activeSet
}

// sweep cuts [from, to) into segments, end to end.
func (e *Evaluator) sweep(from, to time.Time) []segment {
	type change struct {
		at     int64
		budget int
	}
	var changes []change
	var active activeSet
	for i := range e.budgets[:min(len(e.budgets), maxSwept)] {
		b := &e.budgets[i]
		switch {
		case b.broken != "":
		case !b.scheduled:
			active |= 1 << i
		default:
			for _, span := range b.windows.Spans(from, to) {
				changes = append(changes, change{span.From.Unix(), i}, change{span.To.Unix(), i})
			}
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return int(min(max(a.at-b.at, -1), 1)) })
	var segments []segment
	start := from
	for n := 0; n < len(changes); {
		at := changes[n].at
		if t := time.Unix(at, 0).UTC(); t.After(start) {
			segments = append(segments, segment{start, t, active})
			start = t
		}
		for ; n < len(changes) && changes[n].at == at; n++ {
			active ^= 1 << changes[n].budget
		}
	}
	if start.Before(to) {
		segments = append(segments, segment{start, to, active})
	}
	return segments
}
