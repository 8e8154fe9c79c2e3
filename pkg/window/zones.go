package window

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a bare machine has no zones of its own

	"rackparams/pkg/shape"
)

// zoneNames are the names of the time zone database, a line each.
//
//go:embed zones.txt
var zoneNames string

// LoadZone returns the time zone of a name in the time zone database. An error suggests near names.
func LoadZone(name string) (*time.Location, error) {
	if name != "" && name != "Local" {
		if zone, err := time.LoadLocation(name); err == nil {
			return zone, nil
		}
	}
	message := fmt.Sprintf("unknown time zone %s", shape.Quote(name))
	if near := nearZones(name); near != nil {
		return nil, fmt.Errorf("%s; did you mean %s?", message, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("%s; write a name of the time zone database, such as Europe/Berlin or UTC", message)
}

// ZoneNames returns the names of the time zone database, sorted.
func ZoneNames() []string { return strings.Fields(zoneNames) }

// nearZones are up to three names that one may have meant: those of the same city, or else the nearest one.
func nearZones(name string) []string {
	names := ZoneNames()
	wanted := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(name))
	city := wanted[strings.LastIndexByte(wanted, '/')+1:]
	var near []string
	for _, known := range names {
		lower := strings.ToLower(known)
		if city != "" && (lower == wanted || strings.HasSuffix(lower, "/"+city)) && len(near) < 3 {
			near = append(near, known)
		}
	}
	// Abbreviations are ambiguous: CST is in Chicago, Havana and Shanghai.
	if near == nil && (len(name) > 4 || strings.ToUpper(name) != name) {
		if nearest := shape.Nearest(name, names); nearest != "" {
			near = []string{nearest}
		}
	}
	if near == nil && len(city) > 4 {
		cities := make([]string, len(names))
		for i, known := range names {
			cities[i] = known[strings.LastIndexByte(known, '/')+1:]
		}
		if nearest := shape.Nearest(city, cities); nearest != "" {
			near = []string{names[slices.Index(cities, nearest)]}
		}
	}
	return near
}

// Change is a change of a zone's clock.
type Change struct {
	At time.Time // the instant from which the new offset holds
	// Before and After are the offsets from UTC, in minutes.
	Before, After int
}

// Affected returns how many of the minutes of a set, by the clock of the zone, the change leaves out, or goes over twice.
func (c Change) Affected(week *Week) int {
	// By the clock before the change: the minutes skipped follow it, those repeated lead up to it.
	from := minuteOfWeek(c.At.UTC().Add(time.Duration(c.Before) * time.Minute))
	length := c.After - c.Before
	if length < 0 {
		from, length = from+length, -length
	}
	affected := 0
	for i := range length {
		if week[modulo(from+i, minutesPerWeek)] {
			affected++
		}
	}
	return affected
}

// NextChange returns the first change of the clock after a time, and whether there is one within the time that the zone
// database speaks of.
func NextChange(zone *time.Location, after time.Time) (Change, bool) {
	at := after.In(zone)
	for {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			return Change{}, false
		}
		c := Change{At: end, Before: offset(at), After: offset(end.In(zone))}
		// A zone may change its name alone; and beyond its table of changes the bounds may end at or before the time itself.
		if c.Before != c.After && end.After(after) {
			return c, true
		}
		if !end.After(at) {
			end = at.Add(24 * time.Hour)
		}
		at = end.In(zone)
	}
}

// offset is the offset of a time from UTC, in minutes. All offsets in use today are whole minutes.
func offset(t time.Time) int {
	_, seconds := t.Zone()
	return seconds / 60
}

// yearsAhead is over how many years the offsets of a zone are gathered: its rules may have more to come than the next
// change.
const yearsAhead = 10

// Offsets returns the offsets from UTC, in minutes, that a zone has from a time on, sorted.
func Offsets(zone *time.Location, from time.Time) []int {
	offsets := []int{offset(from.In(zone))}
	for at, until := from, from.AddDate(yearsAhead, 0, 0); ; {
		change, found := NextChange(zone, at)
		if !found || change.At.After(until) {
			break
		}
		offsets = append(offsets, change.After)
		at = change.At
	}
	slices.Sort(offsets)
	return slices.Compact(offsets)
}
