package cli

import (
	"slices"
	"strings"
	"time"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/window"
)

// zoneFlag is the flag --tz.
type zoneFlag struct{ *time.Location }

func (f *zoneFlag) Type() string { return "ZONE" }

// Set takes the value of the flag.
func (f *zoneFlag) Set(text string) error {
	zone, err := window.LoadZone(text)
	if err != nil {
		return err
	}
	f.Location = zone
	return nil
}

// band is a part of a day over which the same holds: from minute to minute by the clock on the wall.
type band struct {
	from, to int
	nodepool.Ruling
}

// dayBands is one day of a grid.
type dayBands struct {
	date  time.Time // as midnight in UTC, whatever the zone
	bands []band
}

// grid cuts spans into days of a time zone. Where the clock changes, an hour that comes twice has bands for both times,
// one after the other, and an hour that is left out has none.
func grid(spans []nodepool.RuledSpan, zone *time.Location) []dayBands {
	var days []dayBands
	for _, span := range spans {
		for at := span.From.In(zone); at.Before(span.To); {
			date := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
			end := earliest(span.To.In(zone), nextDay(at))
			// Within one offset from UTC the clock runs steadily.
			if _, change := at.ZoneBounds(); !change.IsZero() && change.Before(end) && change.After(at) {
				end = change
			}
			from := at.Hour()*60 + at.Minute()
			to := from + int(end.Sub(at).Minutes())
			if n := len(days); n == 0 || !days[n-1].date.Equal(date) {
				days = append(days, dayBands{date: date})
			}
			last := &days[len(days)-1]
			last.bands = append(last.bands, band{from, to, span.Ruling})
			at = end
		}
	}
	return days
}

// nextDay is the first instant of the next day by the clock of a time. Where the clock jumps over midnight, or over a whole
// day, that is the end of the jump.
func nextDay(at time.Time) time.Time {
	midnight := time.Date(at.Year(), at.Month(), at.Day()+1, 0, 0, 0, 0, at.Location())
	if midnight.Day() == at.Day() || !midnight.After(at) {
		_, midnight = at.ZoneBounds()
	}
	return midnight
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// gridGroup is what a grid shows together: the reasons for which the same holds all the time.
type gridGroup struct {
	reasons []string
	spans   []nodepool.RuledSpan
}

func (g gridGroup) String() string { return strings.Join(g.reasons, ", ") }

// gridGroups puts together the reasons of a pool that need not be told apart.
func gridGroups(pool poolTimeline) []gridGroup {
	var groups []gridGroup
	for i, reason := range pool.reasons {
		same := slices.IndexFunc(groups, func(g gridGroup) bool {
			return slices.EqualFunc(g.spans, pool.spans[i], func(a, b nodepool.RuledSpan) bool {
				return a.From.Equal(b.From) && a.To.Equal(b.To) && a.Unlimited == b.Unlimited && (a.Unlimited || a.Ceiling == b.Ceiling)
			})
		})
		if same < 0 {
			groups = append(groups, gridGroup{spans: pool.spans[i]})
			same = len(groups) - 1
		}
		groups[same].reasons = append(groups[same].reasons, string(reason))
	}
	return groups
}

// level is how much a ruling allows, for colours.
type level int

const (
	levelBlocked level = iota
	levelLimited
	levelUnlimited
)

func levelOf(r nodepool.Ruling) level {
	switch {
	case r.Unlimited:
		return levelUnlimited
	case r.Ceiling <= 0:
		return levelBlocked
	}
	return levelLimited
}
