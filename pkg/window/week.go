// Package window goes from the hours in which disruption is allowed, or blocked, to the disruption budgets that make it
// so.
//
// A budget can only block, its schedule runs in UTC, and its window is a firing and a duration. So "allow on Saturday from
// 09:00 to 13:00" has to become "block from Saturday 13:00 for 164 hours". This package does that arithmetic on the
// minutes of a week, in any time zone, and over the changes of its clock.
package window

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackparams/pkg/schedule"
)

// minutesPerDay and minutesPerWeek are what their names say.
const (
	minutesPerDay  = 24 * 60
	minutesPerWeek = 7 * minutesPerDay
)

// Week is a set of minutes of a week that repeats, from Sunday 00:00 on, in UTC or by the clock of some place.
type Week [minutesPerWeek]bool

// Len returns how many minutes the set holds.
func (w *Week) Len() int {
	n := 0
	for _, in := range w {
		if in {
			n++
		}
	}
	return n
}

// Has reports whether the set holds the minute of a time, by that time's own clock.
func (w *Week) Has(t time.Time) bool { return w[minuteOfWeek(t)] }

func minuteOfWeek(t time.Time) int {
	return int(t.Weekday())*minutesPerDay + t.Hour()*60 + t.Minute()
}

// Complement returns the minutes that the set does not hold.
func (w *Week) Complement() Week {
	var other Week
	for i, in := range w {
		other[i] = !in
	}
	return other
}

// Add puts the minutes of another set into this one.
func (w *Week) Add(other *Week) {
	for i, in := range other {
		w[i] = w[i] || in
	}
}

// Keep takes the minutes out that another set does not hold.
func (w *Week) Keep(other *Week) {
	for i, in := range other {
		w[i] = w[i] && in
	}
}

// Shift moves the set later by a number of minutes, round the end of the week.
func (w *Week) Shift(minutes int) Week {
	var moved Week
	for i, in := range w {
		moved[modulo(i+minutes, minutesPerWeek)] = in
	}
	return moved
}

func modulo(a, b int) int { return (a%b + b) % b }

// Span is a span of minutes of a week: from a minute on, for a number of them, round the end of the week if need be.
type Span struct{ From, Minutes int }

// monday is the minute at which people begin a week.
const monday = minutesPerDay

// Spans returns the set as spans that do not touch, from Monday on. The whole week is one span from Monday 00:00.
func (w *Week) Spans() []Span {
	var spans []Span
	for i := range minutesPerWeek {
		from := (monday + i) % minutesPerWeek
		if !w[from] || w[modulo(from-1, minutesPerWeek)] {
			continue
		}
		minutes := 1
		for w[(from+minutes)%minutesPerWeek] {
			minutes++
		}
		spans = append(spans, Span{from, minutes})
	}
	if spans == nil && w[0] {
		return []Span{{monday, minutesPerWeek}}
	}
	return spans
}

// Entry is a window of a budget that repeats weekly: from some times of day, at the same minute of the hour, on some days,
// for a duration.
type Entry struct {
	Minute int   // of the hour
	Hours  []int // in order
	Days   schedule.Weekdays
	Length time.Duration
}

// Schedule returns the schedule of the entry, as people write it.
func (e Entry) Schedule() string {
	hours := make([]string, len(e.Hours))
	for i, hour := range e.Hours {
		hours[i] = strconv.Itoa(hour)
	}
	field := strings.Join(hours, ",")
	if len(e.Hours) == 24 {
		if e.Minute == 0 && e.Days == schedule.AllWeekdays {
			return "@hourly"
		}
		field = "*"
	}
	return fmt.Sprintf("%d %s * * %s", e.Minute, field, e.Days)
}

// Duration returns the duration of the entry, as budgets take it.
func (e Entry) Duration() string { return schedule.FormatDuration(e.Length) }

// Entries returns the windows that are active in just the minutes of the set: one for all days on which spans of the same
// length begin at the same time, and for all hours of the same days.
func (w *Week) Entries() []Entry {
	var entries []Entry
	for _, span := range w.Spans() {
		hour, minute := span.From%minutesPerDay/60, span.From%60
		length := time.Duration(span.Minutes) * time.Minute
		day := schedule.Weekdays(1) << (span.From / minutesPerDay)
		same := slices.IndexFunc(entries, func(e Entry) bool { return e.Minute == minute && e.Hours[0] == hour && e.Length == length })
		if same >= 0 {
			entries[same].Days |= day
			continue
		}
		entries = append(entries, Entry{minute, []int{hour}, day, length})
	}
	var joined []Entry
	for _, entry := range entries {
		same := slices.IndexFunc(joined, func(e Entry) bool {
			return e.Minute == entry.Minute && e.Days == entry.Days && e.Length == entry.Length
		})
		if same >= 0 {
			joined[same].Hours = append(joined[same].Hours, entry.Hours...)
			slices.Sort(joined[same].Hours)
			continue
		}
		joined = append(joined, entry)
	}
	return joined
}
