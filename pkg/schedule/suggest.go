package schedule

import (
	"strconv"
	"strings"
	"time"
)

// SuggestWeekdays returns a day-of-week field that Karpenter's parser reads and that says what field most likely meant,
// or "" when that is not clear. It knows what other crons take and this parser does not: 7 for Sunday, full day names,
// ranges that run over the end of the week, and slips of the pen such as "MONN".
func SuggestWeekdays(field string) string {
	if _, err := ParseWeekdays(field); err == nil {
		return field
	}
	var items []string
	for item := range strings.SplitSeq(field, ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		suggested := suggestRange(item)
		if suggested == "" {
			return ""
		}
		if suggested == "*" {
			return "*"
		}
		items = append(items, suggested)
	}
	suggestion := strings.Join(items, ",")
	if _, err := ParseWeekdays(suggestion); err != nil {
		return ""
	}
	return suggestion
}

// suggestRange does the work of SuggestWeekdays for one item of a list.
func suggestRange(item string) string {
	if _, err := ParseWeekdays(item); err == nil {
		return item
	}
	from, to, isRange := strings.Cut(item, "-")
	if !isRange {
		if base, step, isStep := strings.Cut(item, "/"); isStep && step == "0" {
			return suggestRange(base)
		}
		if day, ok := nearestDay(item); ok {
			return dayAs(item, day)
		}
		return ""
	}
	first, ok1 := nearestDay(from)
	last, ok2 := nearestDay(to)
	if !ok1 || !ok2 {
		return ""
	}
	// As the end of a range, 7 is the Sunday after Saturday.
	if to == "7" && first == time.Sunday && from != "7" {
		return "*"
	}
	if first <= last {
		return dayAs(from, first) + "-" + dayAs(to, last)
	}
	return wrap(first, last, dayAs(from, first) == strconv.Itoa(int(first)))
}

// wrap writes the days from first over the end of the week to last, in that order, since that is how the author thinks
// of them. Runs of three days and more become a range.
func wrap(first, last time.Weekday, digits bool) string {
	if (first-last+7)%7 == 1 {
		return "*"
	}
	run := func(a, b time.Weekday) string {
		name := DayName
		if digits {
			name = func(d time.Weekday) string { return strconv.Itoa(int(d)) }
		}
		switch b - a {
		case 0:
			return name(a)
		case 1:
			return name(a) + "," + name(b)
		}
		return name(a) + "-" + name(b)
	}
	return run(first, time.Saturday) + "," + run(time.Sunday, last)
}

// dayAs writes day as a digit where text has one and as a name elsewhere.
func dayAs(text string, day time.Weekday) string {
	if _, err := strconv.Atoi(text); err == nil {
		return strconv.Itoa(int(day))
	}
	return DayName(day)
}

// nearestDay reads one day written in any of the ways people write it.
func nearestDay(text string) (time.Weekday, bool) {
	if n, err := strconv.Atoi(text); err == nil {
		return time.Weekday(n % 7), 0 <= n && n <= 7
	}
	// Three letters tell the days apart, so "MONN", "tues" and "Sunday" are each clear.
	if len(text) < 3 {
		return 0, false
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		if strings.EqualFold(text[:3], day.String()[:3]) && isLetters(text) {
			return day, true
		}
	}
	return 0, false
}

func isLetters(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
