package schedule

import (
	"time"

	"github.com/robfig/cron/v3"
)

// Windows are the times at which a budget with a schedule and a duration is active.
//
// Karpenter asks the schedule for the first firing after now - duration and takes the budget to be active when that
// firing is not after now. So a window is half open, [firing, firing + duration), and windows that touch or overlap are
// one. Two things follow from that question which nobody expects: a schedule that never fires is always active, since
// the parser answers with the zero time, and "@every" is always or never active.
type Windows struct {
	schedule Schedule
	duration int64 // seconds
	calendar calendar
	kind     windowsKind
	// opens are the windows that open on a day on which the schedule fires, in seconds from its midnight, those that touch
	// made one.
	opens []seconds
}

type windowsKind uint8

const (
	recurring windowsKind = iota // by the calendar
	never
	always
	leapDays // by the calendar, with the parser's limit of five years
)

// seconds is a half-open span of Unix time, or of the time since a midnight.
type seconds struct{ from, to int64 }

// Span is a half-open span of time, [From, To), in UTC.
type Span struct{ From, To time.Time }

// NewWindows returns the windows of a schedule. The duration is that of a budget: whole seconds.
func NewWindows(s Schedule, duration time.Duration) Windows {
	w := Windows{schedule: s, duration: int64(duration / time.Second)}
	spec, isSpec := s.cron.(*cron.SpecSchedule)
	if !isSpec {
		every, isEvery := s.cron.(cron.ConstantDelaySchedule)
		w.kind = never
		if !isEvery || every.Delay <= duration {
			w.kind = always
		}
		return w
	}
	w.calendar = newCalendar(spec)
	switch {
	case !w.calendar.fires():
		w.kind = always
		return w
	case w.calendar.leapDaysOnly():
		w.kind = leapDays
	case w.duration <= 0:
		w.kind = never
		return w
	}
	for _, firing := range w.calendar.firings() {
		w.opens = appendSpan(w.opens, seconds{firing, firing + w.duration})
	}
	if w.kind == recurring && w.joinsUp() {
		w.kind = always
	}
	return w
}

// appendSpan puts a span behind others that begin no later, joining it to the last one where they touch.
func appendSpan(spans []seconds, s seconds) []seconds {
	if n := len(spans); n > 0 && s.from <= spans[n-1].to {
		spans[n-1].to = max(spans[n-1].to, s.to)
		return spans
	}
	return append(spans, s)
}

// yearsRepeat is after how many years leap years and weekdays come round again where no century comes between. A year
// and the next one are of the same kinds there as anywhere else, so what holds of neighbouring firings over these years
// holds for good.
const yearsRepeat = 28

// joinsUp reports whether the windows of one firing day after another leave no gap.
func (w *Windows) joinsUp() bool {
	if len(w.opens) != 1 {
		return false
	}
	open := w.opens[0]
	return w.everyPair(func(before, day int64) bool { return day+open.from <= before+open.to })
}

// everyPair reports whether holds is true of all neighbours among the days on which the schedule fires, given by their
// midnights: over two weeks, or over the years in which all neighbours come round.
func (w *Windows) everyPair(holds func(before, day int64) bool) bool {
	days := 14
	if !w.calendar.repeatsWeekly() {
		days = (yearsRepeat + 1) * 366
	}
	before, found := int64(0), false
	for d, n := dateOf(referenceDay), 0; n < days; d, n = d.next(), n+1 {
		if !w.calendar.matches(d) {
			continue
		}
		if found && !holds(before, d.midnight) {
			return false
		}
		before, found = d.midnight, true
	}
	return true
}

// Always reports whether the windows join up, so that there is no time outside them.
func (w *Windows) Always() bool { return w.kind == always }

// Never reports whether there is no window at all.
func (w *Windows) Never() bool { return w.kind == never }

// Impossible reports whether the schedule never fires, for which Karpenter takes the budget to be always active.
func (w *Windows) Impossible() bool {
	_, isSpec := w.schedule.cron.(*cron.SpecSchedule)
	return isSpec && w.kind == always && w.opens == nil
}

// RepeatsWeekly reports whether every week is like the next.
func (w *Windows) RepeatsWeekly() bool {
	return w.kind == always || w.kind == never || w.calendar.repeatsWeekly()
}

// Active reports whether t is inside a window.
func (w *Windows) Active(t time.Time) bool {
	switch w.kind {
	case never:
		return false
	case always:
		return true
	case leapDays:
		return !w.schedule.Next(t.Add(-time.Duration(w.duration) * time.Second)).After(t)
	}
	now := t.Unix()
	second := modulo(now, daySeconds)
	midnight := now - second
	var today date
	if w.calendar.repeatsWeekly() {
		today = date{midnight: midnight, month: 1, day: 1, weekday: uint(modulo(midnight/daySeconds+4, 7))}
	} else {
		today = dateOf(now)
	}
	if firing, found := w.calendar.lastFiring(second); found && w.calendar.matches(today) {
		return second-firing < w.duration
	}
	return w.reaches(today, now)
}

// reaches reports whether a window that opened before the day of d lasts to now.
func (w *Windows) reaches(d date, now int64) bool {
	last := w.opens[len(w.opens)-1].to
	weekly := w.calendar.repeatsWeekly()
	for {
		if weekly {
			d.midnight -= daySeconds
			d.weekday = (d.weekday + 6) % 7
		} else {
			d = d.previous()
		}
		if d.midnight+last <= now {
			return false
		}
		if w.calendar.matches(d) {
			return true
		}
	}
}

// Spans returns the spans within [from, to) in which the windows are active, in order and not touching one another.
func (w *Windows) Spans(from, to time.Time) []Span {
	inside := w.spans(from.Unix(), to.Unix())
	spans := make([]Span, len(inside))
	for i, s := range inside {
		spans[i] = Span{time.Unix(s.from, 0).UTC(), time.Unix(s.to, 0).UTC()}
	}
	return spans
}

func (w *Windows) spans(from, to int64) []seconds {
	switch {
	case from >= to || w.kind == never:
		return nil
	case w.kind == always:
		return []seconds{{from, to}}
	}
	var spans []seconds
	for d := w.firingDayBefore(from); d.midnight < to; d = d.next() {
		if !w.calendar.matches(d) {
			continue
		}
		for _, open := range w.opens {
			spans = appendSpan(spans, seconds{d.midnight + open.from, d.midnight + open.to})
		}
		if w.kind == leapDays {
			w.extendOverCentury(&spans[len(spans)-1], d)
		}
	}
	return clip(spans, from, to)
}

// firingDayBefore returns the last day before that of from on which the schedule fires: no window that opened earlier
// outlasts the ones of that day.
func (w *Windows) firingDayBefore(from int64) date {
	d := dateOf(from).previous()
	// There is one within eight years, the longest that leap days are apart.
	for n := 0; n < 9*366 && !w.calendar.matches(d); n++ {
		d = d.previous()
	}
	return d
}

// extendOverCentury keeps the last window before a century without a leap day open for as long as the parser, which looks
// five years ahead, finds no firing after now - duration.
func (w *Windows) extendOverCentury(s *seconds, d date) {
	following := d.year + 4
	for daysIn(2, following) != 29 {
		following += 4
	}
	// A year from which the next leap day is more than five years off finds none, up to its last second but one: the
	// parser begins a second later.
	if blind := following - 6; blind >= d.year {
		end := time.Date(blind, time.December, 31, 23, 59, 59, 0, time.UTC).Unix()
		s.to = max(s.to, end+w.duration)
	}
}

// clip cuts spans to [from, to).
func clip(spans []seconds, from, to int64) []seconds {
	clipped := spans[:0]
	for _, s := range spans {
		s.from, s.to = max(s.from, from), min(s.to, to)
		if s.from < s.to {
			clipped = append(clipped, s)
		}
	}
	return clipped
}

// SpansPerDay returns how many spans begin, at most, on one day.
func (w *Windows) SpansPerDay() int { return max(len(w.opens), 1) }

// FiresInside reports whether the schedule fires again inside its own window, while there is time outside the windows.
func (w *Windows) FiresInside() bool {
	if w.kind != recurring && w.kind != leapDays {
		return false
	}
	times := w.calendar.firings()
	for i := range times[1:] {
		if times[i+1]-times[i] < w.duration {
			return true
		}
	}
	first, last := times[0], times[len(times)-1]
	return !w.everyPair(func(before, day int64) bool { return day+first-(before+last) >= w.duration })
}
