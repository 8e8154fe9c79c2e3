package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rackparams/pkg/shape"
)

// choiceFlag is a flag that takes one of a few words, empty while it is not given.
type choiceFlag struct {
	value string
	of    []string
}

func (f *choiceFlag) String() string { return f.value }
func (f *choiceFlag) Type() string   { return strings.Join(f.of, "|") }

// Set takes the value of the flag.
func (f *choiceFlag) Set(text string) error {
	if !slices.Contains(f.of, text) {
		return fmt.Errorf("write one of %s%s", strings.Join(f.of, ", "), shape.DidYouMean(text, f.of))
	}
	f.value = text
	return nil
}

// durationFlag is a flag that holds a time longer than nothing.
type durationFlag time.Duration

func (f *durationFlag) String() string { return time.Duration(*f).String() }
func (f *durationFlag) Type() string   { return "DURATION" }

// Set takes the value of the flag.
func (f *durationFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("write a time longer than nothing, such as 30m or 2h")
	}
	*f = durationFlag(d)
	return nil
}

// timeFlag is a flag that holds a time, if it is given.
type timeFlag struct {
	time.Time
	given bool
}

// maxYear is up to which year times are taken, so that what follows them still has four digits.
const maxYear = 9990

// timeForms are the ways in which a time may be written. Those without a zone are in UTC.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

func (f *timeFlag) Type() string { return "TIME" }

func (f *timeFlag) String() string {
	if !f.given {
		return ""
	}
	return f.Format(time.RFC3339)
}

// orElse gives the flag a time where it has none.
func (f *timeFlag) orElse(t time.Time) {
	if !f.given {
		f.Time, f.given = t.UTC(), true
	}
}

// Set takes the value of the flag.
func (f *timeFlag) Set(text string) error {
	for _, form := range timeForms {
		if t, err := time.Parse(form, text); err == nil && t.Year() < maxYear {
			f.Time, f.given = t.UTC(), true
			return nil
		}
	}
	return fmt.Errorf("write a time such as 2026-12-05T09:00:00Z, or 2026-12-05 09:00 in UTC")
}

// formatTime writes a time for machines, and null for none.
func formatTime(t *time.Time) any {
	if t == nil {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// formatTimeText writes a time for people.
func formatTimeText(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

// countFlag is a flag that holds a number of nodes.
type countFlag int

func (f *countFlag) Type() string   { return "N" }
func (f *countFlag) String() string { return strconv.Itoa(int(*f)) }

// Set takes the value of the flag.
func (f *countFlag) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("write a number of nodes, from 0 to %d", math.MaxInt32)
	}
	*f = countFlag(n)
	return nil
}
