package window

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rackparams/pkg/shape"
)

// SpecError says what is wrong with a SPEC, and where.
type SpecError struct {
	Spec string
	// Column is where it is wrong, counted from 1 in characters.
	Column  int
	Message string
}

func (e *SpecError) Error() string {
	return fmt.Sprintf("%s: at character %d: %s", shape.Quote(e.Spec), e.Column, e.Message)
}

// specForm says how a SPEC is written.
const specForm = `write [DAYS ]HH:MM-HH:MM, such as "sat 09:00-13:00" or "weekdays 09:00-17:00"`

// ParseSpec reads "[DAYS ]HH:MM-HH:MM": the minutes from one time to the other on each of the days, over midnight where
// the second is not after the first. Days are a weekday, a list, a range that may wrap ("fri-mon"), "daily" (which no days
// stand for), "weekdays" or "weekends"; "24:00" ends a day.
func ParseSpec(text string) (Week, error) {
	p := specParser{text: text}
	days := [7]bool{true, true, true, true, true, true, true}
	words := p.words()
	if len(words) > 1 {
		// Blanks may stand round the commas of a list.
		last := words[len(words)-1]
		for _, w := range words[:len(words)-1] {
			switch {
			case !strings.Contains(w.text, ":"):
			case strings.Contains(w.text, "-") && strings.Contains(last.text, ":"):
				p.fail(w.at, "a SPEC is one window; give the next one with a flag of its own")
			case !strings.Contains(w.text, "-"):
				p.fail(w.at, "%s is no span of time; %s", shape.Quote(w.text), specForm)
			}
		}
		if !strings.ContainsAny(last.text, ":-") {
			p.fail(last.at, "%s is no span of time; %s", shape.Quote(last.text), specForm)
		}
		list := word{strings.TrimRight(text[words[0].at:last.at], " \t"), words[0].at}
		days = p.days(list)
		words = []word{last}
	}
	if len(words) == 0 {
		p.fail(0, "it is empty; "+specForm)
	}
	var week Week
	if p.err == nil {
		from, to := p.times(words[0])
		if p.err == nil {
			for day, in := range days {
				for minute := from; in && minute < to; minute++ {
					week[(day*minutesPerDay+minute)%minutesPerWeek] = true
				}
			}
		}
	}
	if p.err != nil {
		return Week{}, p.err
	}
	return week, nil
}

type word struct {
	text string
	at   int
}

type specParser struct {
	text string
	err  error
}

// fail keeps the first thing that is wrong.
func (p *specParser) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = &SpecError{Spec: p.text, Column: 1 + len([]rune(p.text[:at])), Message: fmt.Sprintf(format, args...)}
	}
}

// words are the parts between blanks.
func (p *specParser) words() []word {
	var words []word
	start := -1
	for i := 0; i <= len(p.text); i++ {
		blank := i == len(p.text) || p.text[i] == ' ' || p.text[i] == '\t'
		switch {
		case !blank && start < 0:
			start = i
		case blank && start >= 0:
			words = append(words, word{p.text[start:i], start})
			start = -1
		}
	}
	return words
}

func (p *specParser) days(list word) (days [7]bool) {
	at := list.at
	for item := range strings.SplitSeq(list.text, ",") {
		trimmed := strings.TrimLeft(item, " \t")
		p.item(word{strings.TrimRight(trimmed, " \t"), at + len(item) - len(trimmed)}, &days)
		at += len(item) + 1
	}
	return days
}

// item reads one item of a list of days.
func (p *specParser) item(w word, days *[7]bool) {
	add := func(first, last time.Weekday) {
		for day := first; ; day = (day + 1) % 7 {
			days[day] = true
			if day == last {
				return
			}
		}
	}
	switch strings.ToLower(w.text) {
	case "daily":
		add(time.Sunday, time.Saturday)
		return
	case "weekdays":
		add(time.Monday, time.Friday)
		return
	case "weekends":
		add(time.Saturday, time.Sunday)
		return
	}
	from, to, isRange := strings.Cut(w.text, "-")
	first := p.day(word{from, w.at})
	last := first
	if isRange {
		last = p.day(word{to, w.at + len(from) + 1})
	}
	if p.err == nil {
		add(first, last)
	}
}

// dayWords are the words for days, the short ones first.
var dayWords = []string{
	"sun", "mon", "tue", "wed", "thu", "fri", "sat", "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "daily", "weekdays", "weekends",
}

func (p *specParser) day(w word) time.Weekday {
	for i, name := range dayWords[:14] {
		if strings.EqualFold(w.text, name) {
			return time.Weekday(i % 7)
		}
	}
	switch {
	case w.text == "":
		p.fail(w.at, "a day is missing; write one of sun, mon, tue, wed, thu, fri, sat")
	default:
		p.fail(w.at, "%s is not a day; write one of sun, mon, tue, wed, thu, fri, sat, daily, weekdays, weekends%s", shape.Quote(w.text), shape.DidYouMean(w.text, dayWords))
	}
	return 0
}

// times reads HH:MM-HH:MM into minutes from the midnight before, the second after the first.
func (p *specParser) times(w word) (from, to int) {
	begin, end, found := strings.Cut(w.text, "-")
	if !found {
		p.fail(w.at, "%s is no span of time; %s", shape.Quote(w.text), specForm)
		return 0, 0
	}
	from = p.time(word{begin, w.at}, false)
	to = p.time(word{end, w.at + len(begin) + 1}, true)
	switch {
	case p.err != nil:
	case from == to:
		p.fail(w.at, "the window is empty: it ends as it begins; write 00:00-24:00 for a whole day")
	case to < from:
		to += minutesPerDay
	}
	return from, to
}

func (p *specParser) time(w word, isEnd bool) int {
	hour, minute, found := strings.Cut(w.text, ":")
	h, errHour := strconv.Atoi(hour)
	m, errMinute := strconv.Atoi(minute)
	sound := found && errHour == nil && errMinute == nil && len(hour) <= 2 && len(minute) == 2 && hour[0] != '-' && hour[0] != '+' && minute[0] != '-' && minute[0] != '+'
	switch {
	case !sound || h > 24 || m > 59 || h == 24 && m > 0:
		p.fail(w.at, "%s is not a time of day; write HH:MM from 00:00 to 24:00", shape.Quote(w.text))
	case h == 24 && !isEnd:
		p.fail(w.at, "24:00 ends a day and begins none; write 00:00 and the next day")
	}
	return h*60 + m
}
