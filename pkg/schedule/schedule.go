// Package schedule reads the cron schedules of disruption budgets exactly as Karpenter reads them.
//
// Karpenter hands a budget's schedule to github.com/robfig/cron/v3 as "TZ=UTC " + schedule. That parser is looser than
// people expect in some places (it takes "," as a field that never matches) and stricter in others (it knows no 7 for
// Sunday and no range that runs backwards), so this package calls the same parser and only adds to what it knows of
// the result.
package schedule

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a parsed cron schedule in UTC. Get one from Parse; the zero value fires never.
type Schedule struct{ cron cron.Schedule }

// Parse reads text as Karpenter does. Its error is the parser's own, without Karpenter's "TZ=UTC " prefix.
func Parse(text string) (Schedule, error) {
	parsed, err := cron.ParseStandard("TZ=UTC " + text)
	if err != nil {
		return Schedule{}, err
	}
	return Schedule{parsed}, nil
}

// Next returns the first firing strictly after t, in UTC, or the zero time when none comes within five years, which is
// as far as the parser looks. Karpenter takes that zero time for a firing in the past, so a budget whose schedule never
// fires is always active.
func (s Schedule) Next(t time.Time) time.Time {
	if s.cron == nil {
		return time.Time{}
	}
	return s.cron.Next(t.UTC())
}

// Weekdays is a set of days of the week; bit n stands for time.Weekday(n).
type Weekdays uint8

// AllWeekdays holds every day of the week.
const AllWeekdays Weekdays = 1<<7 - 1

// Len returns how many days the set holds.
func (w Weekdays) Len() int { return bits.OnesCount8(uint8(w)) }

// Has reports whether the set holds day.
func (w Weekdays) Has(day time.Weekday) bool { return w&(1<<uint(day)) != 0 }

// String writes the set as a cron field, the way people do: "*" for every day, else the three-letter names from Monday
// on, or from Sunday on where that is shorter, neighbours of three days and more as a range ("MON-FRI", "SAT,SUN",
// "SUN-TUE").
func (w Weekdays) String() string {
	if w == AllWeekdays {
		return "*"
	}
	fromSunday := w.runs(time.Sunday, time.Saturday)
	fromMonday := w.runs(time.Monday, time.Saturday)
	if w.Has(time.Sunday) {
		fromMonday = append(fromMonday, DayName(time.Sunday))
	}
	if len(fromSunday) < len(fromMonday) {
		return strings.Join(fromSunday, ",")
	}
	return strings.Join(fromMonday, ",")
}

// runs are the days of the set from first to last. A range in cron runs forward from Sunday, so none leads over it.
func (w Weekdays) runs(first, last time.Weekday) []string {
	var parts []string
	for day := first; day <= last; day++ {
		if !w.Has(day) {
			continue
		}
		end := day
		for end < last && w.Has(end+1) {
			end++
		}
		if end-day >= 2 {
			parts = append(parts, DayName(day)+"-"+DayName(end))
			day = end
			continue
		}
		parts = append(parts, DayName(day))
	}
	return parts
}

// FormatDuration writes whole minutes as people type them, and as budgets take them: "164h", "59m", "23h59m".
func FormatDuration(d time.Duration) string {
	hours, minutes := int(d/time.Hour), int(d/time.Minute)%60
	switch {
	case minutes == 0:
		return fmt.Sprintf("%dh", hours)
	case hours == 0:
		return fmt.Sprintf("%dm", minutes)
	}
	return fmt.Sprintf("%dh%dm", hours, minutes)
}

// DayName returns the name of day that the parser knows, such as "MON".
func DayName(day time.Weekday) string { return strings.ToUpper(day.String()[:3]) }

// ErrNoWeekday says that the parser takes a field but no day matches it.
var ErrNoWeekday = errors.New("no day matches it, so the schedule never fires and Karpenter takes the budget to be always active")

// ParseWeekdays reads a day-of-week field by Karpenter's parser. A field that the parser takes but that no day matches,
// such as ",", is an error too.
func ParseWeekdays(field string) (Weekdays, error) {
	if strings.ContainsFunc(field, func(r rune) bool { return r == ' ' || r == '\t' }) || field == "" {
		return 0, fmt.Errorf("%q is not one field", field)
	}
	parsed, err := cron.ParseStandard("TZ=UTC 0 0 * * " + field)
	if err != nil {
		return 0, err
	}
	days := Weekdays(parsed.(*cron.SpecSchedule).Dow) & AllWeekdays
	if days == 0 {
		return 0, ErrNoWeekday
	}
	return days, nil
}
