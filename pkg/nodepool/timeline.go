package nodepool

import (
	"slices"
	"time"

	"rackparams/pkg/schedule"
)

// RuledSpan is a span of time, [From, To), over which the budgets say the same.
type RuledSpan struct {
	From, To time.Time
	Ruling
}

// Timeline returns what the budgets say for a reason over [from, to), on a pool of so many nodes: spans that join end to
// end, neighbours of which differ in the ceiling or in the budgets that set it. It is made from the firings of the
// schedules, so that its cost is that of the spans and not of the minutes between them.
func (e *Evaluator) Timeline(reason Reason, from, to time.Time, nodes int) []RuledSpan {
	return e.Timelines([]Reason{reason}, from, to, nodes)[0]
}

// ChangesPerDay returns how many times a day, at most, budgets become active or stop being so. With it the cost of a
// timeline is known before it is made.
func (e *Evaluator) ChangesPerDay() int {
	changes := 0
	for i := range e.budgets {
		if b := &e.budgets[i]; b.scheduled && b.broken == "" {
			changes += 2 * b.windows.SpansPerDay()
		}
	}
	return changes
}

// Timelines returns the Timeline of each of the reasons.
func (e *Evaluator) Timelines(reasons []Reason, from, to time.Time, nodes int) [][]RuledSpan {
	// Windows begin and end on whole seconds, and so do spans.
	from, to = from.UTC().Truncate(time.Second), to.UTC().Truncate(time.Second)
	segments := e.sweep(from, to)
	timelines := make([][]RuledSpan, len(reasons))
	for i, reason := range reasons {
		timelines[i] = e.ruled(segments, reason, nodes)
	}
	return timelines
}

func (e *Evaluator) ruled(segments []segment, reason Reason, nodes int) []RuledSpan {
	// Over any time only a few different sets of budgets are active.
	rulings := map[activeSet]Ruling{}
	var spans []RuledSpan
	for _, s := range segments {
		ruling, known := rulings[s.active]
		if !known {
			ruling = e.ruling(s.active, reason, nodes)
			rulings[s.active] = ruling
		}
		if n := len(spans); n > 0 && spans[n-1].same(ruling) && slices.Equal(spans[n-1].Budgets, ruling.Budgets) {
			spans[n-1].To = s.to
			continue
		}
		spans = append(spans, RuledSpan{s.from, s.to, ruling})
	}
	return spans
}

// horizons are how far ahead a window is looked for, one after the other: most come within a week, and of the rest all
// within a year or, with leap days, eight.
var horizons = []time.Duration{8 * day, 400 * day, 9 * 366 * day}

const day = 24 * time.Hour

// maxLooked is how many openings and ends of windows are looked at for the next change.
const maxLooked = 1_000_000

// NextChange returns when the ceiling for a reason next changes after a time, on a pool of so many nodes, and whether it
// does within nine years. Of budgets that change more often than people write them, it looks at a million changes.
func (e *Evaluator) NextChange(reason Reason, at time.Time, nodes int) (time.Time, bool) {
	now := e.Ruling(reason, at, nodes)
	perDay := max(e.ChangesPerDay(), 1)
	left := maxLooked
	end := at.Add(horizons[len(horizons)-1])
	for from, days := at, 8; from.Before(end) && left > 0; days *= 8 {
		days = max(min(days, left/perDay), 1)
		to := earlier(from.Add(time.Duration(days)*day), end)
		for _, span := range e.Timeline(reason, from, to, nodes) {
			if !span.same(now) {
				return span.From, true
			}
		}
		left -= days * perDay
		from = to
	}
	return time.Time{}, false
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Status is how one budget stands at a time.
type Status struct {
	Active bool
	// Ceiling is what the budget says on the pool, active or not, where Karpenter can read it.
	Ceiling  int
	Readable bool
	// Window is the window that holds the time, or else the next one. Budgets that are always or never active have none.
	Window    schedule.Span
	HasWindow bool
}

// Status returns how the i-th budget stands at a time, on a pool of so many nodes.
func (e *Evaluator) Status(i int, at time.Time, nodes int) Status {
	b := &e.budgets[i]
	s := Status{Readable: b.broken == "" && b.sizeless == ""}
	if s.Readable {
		s.Ceiling = b.ceiling(nodes)
	}
	if b.broken == "" {
		s.Active = b.active(at)
		s.Window, s.HasWindow = b.window(at)
	}
	return s
}

// Windows returns the windows of the i-th budget that touch [from, to), cut to it. A budget without a schedule, or whose
// schedule cannot be read, has none.
func (e *Evaluator) Windows(i int, from, to time.Time) []schedule.Span {
	if b := &e.budgets[i]; b.scheduled && b.broken == "" {
		return b.windows.Spans(from, to)
	}
	return nil
}

func (b *evaluatedBudget) window(at time.Time) (w schedule.Span, found bool) {
	if !b.scheduled || b.windows.Always() || b.windows.Never() {
		return w, false
	}
	for _, horizon := range horizons {
		// Windows that join may have begun long before, and may end long after.
		first, last := at.Add(-horizon), at.Add(horizon)
		for _, span := range b.windows.Spans(first, last) {
			if !span.To.After(at) {
				continue
			}
			if span.From.After(first) && span.To.Before(last) {
				return span, true
			}
			break
		}
	}
	return w, false
}
