package schedule

import (
	"math/bits"
	"time"

	"github.com/robfig/cron/v3"
)

// daySeconds is the length of a day in UTC, which has no leap seconds here as in Unix time.
const daySeconds = 24 * 60 * 60

// starBit is set by the parser in a field that holds a "*" or "?".
const starBit = 1 << 63

// calendar says on which days, and at which times of them, a schedule fires.
type calendar struct {
	dom, month, dow uint64 // bits as the parser sets them
	hours, minutes  uint64
}

func newCalendar(spec *cron.SpecSchedule) calendar {
	return calendar{dom: spec.Dom, month: spec.Month, dow: spec.Dow, hours: spec.Hour &^ starBit, minutes: spec.Minute &^ starBit}
}

// The bits of the fields that hold every value.
const (
	allMonths = (1<<13 - 1) &^ 1
	allDays   = (1<<32 - 1) &^ 1
)

// matches reports whether the schedule fires on a day. The parser joins the day of the month and the weekday by "and"
// where one of them has a star, and by "or" where both are restricted.
func (c *calendar) matches(d date) bool {
	if c.month>>d.month&1 == 0 {
		return false
	}
	dom, dow := c.dom>>d.day&1 == 1, c.dow>>d.weekday&1 == 1
	if (c.dom|c.dow)&starBit != 0 {
		return dom && dow
	}
	return dom || dow
}

// repeatsWeekly reports whether every week is like the next.
func (c *calendar) repeatsWeekly() bool {
	everyMonth, everyDay, everyWeekday := c.month&allMonths == allMonths, c.dom&allDays == allDays, c.dow&uint64(AllWeekdays) == uint64(AllWeekdays)
	if (c.dom|c.dow)&starBit != 0 {
		return everyMonth && everyDay
	}
	return everyMonth && (everyDay || everyWeekday)
}

// fires reports whether the schedule fires at all, on whatever day.
func (c *calendar) fires() bool {
	if c.hours == 0 || c.minutes == 0 {
		return false
	}
	// Leap years and weekdays repeat after 28 years where no century comes between, and no rule asks for more.
	for d, n := dateOf(referenceDay), 0; n < 28*366; d, n = d.next(), n+1 {
		if c.matches(d) {
			return true
		}
	}
	return false
}

// referenceDay is a day as good as any other, a Monday, from which rules that repeat are looked at.
var referenceDay = time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC).Unix()

// leapDaysOnly reports whether the schedule fires on the 29th of February and on no other day. It is the only kind with
// more than five years between two firings, once in a century that is no leap year; there the parser finds no next
// firing, and Karpenter takes the budget to be active.
func (c *calendar) leapDaysOnly() bool {
	if (c.dom|c.dow)&starBit == 0 && c.dow&uint64(AllWeekdays) != 0 {
		return false
	}
	return c.month&allMonths == 1<<time.February && c.dom&allDays&(1<<30-1) == 1<<29
}

// lastFiring returns the last time of day, in seconds, at which the schedule fires at or before second, and whether there
// is one.
func (c *calendar) lastFiring(second int64) (int64, bool) {
	hour, minute := second/3600, second/60%60
	if c.hours>>hour&1 == 1 {
		if earlier := c.minutes & (1<<(minute+1) - 1); earlier != 0 {
			return hour*3600 + int64(bits.Len64(earlier)-1)*60, true
		}
	}
	earlier := c.hours & (1<<hour - 1)
	if earlier == 0 {
		return 0, false
	}
	return int64(bits.Len64(earlier)-1)*3600 + int64(bits.Len64(c.minutes)-1)*60, true
}

// firings returns the times of day, in seconds, at which the schedule fires, in order.
func (c *calendar) firings() []int64 {
	var times []int64
	for hours := c.hours; hours != 0; hours &= hours - 1 {
		for minutes := c.minutes; minutes != 0; minutes &= minutes - 1 {
			times = append(times, int64(bits.TrailingZeros64(hours))*3600+int64(bits.TrailingZeros64(minutes))*60)
		}
	}
	return times
}

// date is a day in UTC. Stepping from one to the next is much cheaper than through time.Time.
type date struct {
	midnight   int64 // Unix seconds
	year       int
	month, day uint
	weekday    uint
}

// dateOf returns the day of a Unix time.
func dateOf(second int64) date {
	t := time.Unix(second, 0).UTC()
	year, month, day := t.Date()
	return date{midnight: second - modulo(second, daySeconds), year: year, month: uint(month), day: uint(day), weekday: uint(t.Weekday())}
}

func (d date) next() date {
	d.midnight += daySeconds
	d.weekday = (d.weekday + 1) % 7
	if d.day++; d.day > daysIn(d.month, d.year) {
		d.day = 1
		if d.month++; d.month > 12 {
			d.month = 1
			d.year++
		}
	}
	return d
}

func (d date) previous() date {
	d.midnight -= daySeconds
	d.weekday = (d.weekday + 6) % 7
	if d.day--; d.day == 0 {
		if d.month--; d.month == 0 {
			d.month = 12
			d.year--
		}
		d.day = daysIn(d.month, d.year)
	}
	return d
}

func daysIn(month uint, year int) uint {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// modulo is the remainder that is never negative.
func modulo(a, b int64) int64 { return (a%b + b) % b }
