package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"
)

const week = 7 * 24 * time.Hour

// TestWindowsLift shows that every window that a rack takes opens at each firing of its schedule and lifts once its
// duration is over: Karpenter gets to replace nodes at some time in each week.
func TestWindowsLift(t *testing.T) {
	var seen tally
	forEachCase(t, 20_000, func(r *rand.Rand) error {
		schedule := blockSchedule(r)
		minutes := 1 + r.IntN(oneOf(r, 59, 24*60-1, 7*24*60+10))
		length := time.Duration(minutes) * time.Minute
		if text := minutesText(r, minutes); setWindow(schedule, text) != nil {
			seen.add("refused")
			return nil
		}
		seen.add("accepted")
		start := time.Unix(r.Int64N(4_000_000_000), 0).UTC()
		if err := checkLifts(schedule, length, start); err != nil {
			return fmt.Errorf("%s=%q with a duration of %s: %w", scheduleName, schedule, length, err)
		}
		return nil
	})
	t.Logf("accepted %d, refused %d", seen.of("accepted"), seen.of("refused"))
	seen.requireAll(t, []string{"accepted", "refused"})
}

// checkLifts says when, in the week from start on, the window of a schedule does not hold from each firing until its
// duration is over and no longer.
func checkLifts(schedule string, length time.Duration, start time.Time) error {
	parsed, err := cron.ParseStandard("TZ=UTC " + schedule)
	if err != nil {
		return err
	}
	budget, firings := windowBudget(schedule, length), 0
	for firing := parsed.Next(start); firing.Before(start.Add(week + time.Second)); firing = parsed.Next(firing) {
		firings++
		for _, at := range []struct {
			time   time.Time
			active bool
		}{{firing.Add(-time.Nanosecond), false}, {firing, true}, {firing.Add(length - time.Nanosecond), true}, {firing.Add(length), false}} {
			active, err := budget.IsActive(clockAt(at.time))
			if err != nil || active != at.active {
				return errors.Join(err, fmt.Errorf("at %s, after the firing at %s, active is %t", at.time, firing, active))
			}
		}
	}
	if firings == 0 {
		return fmt.Errorf("no firing in the week from %s on", start)
	}
	return nil
}

// TestWindowBounds shows that a window that reaches its own next firing is refused, in whatever way it is written, and
// one that is a minute shorter is taken. The first would never lift, which Karpenter's own code confirms.
func TestWindowBounds(t *testing.T) {
	daily := []string{"0 9 * * *", "30 23 * * ?", "00 00 * * 0-6", "5 7 * * SUN-sat", "1 2 * * */1", "@daily", "@midnight", "59 23 * * mon,*"}
	weekly := []string{"0 9 * * MON", "0 9 * * 0", "15 3 * * +6", "0 9 * * sat-SAT", "0 9 * * 6/2", "0 9 * * */8", "0 0 * * MON,mon,1", "0 9 * * ,TUE", "@weekly"}
	for _, bound := range []struct {
		schedules []string
		gap       time.Duration
	}{{daily, 24 * time.Hour}, {weekly, week}, {[]string{"@hourly"}, time.Hour}} {
		for _, schedule := range bound.schedules {
			minutes := int(bound.gap.Minutes())
			for _, most := range spellings(minutes - 1) {
				require.NoError(t, setWindow(schedule, most), "%s for %s", schedule, most)
			}
			for _, tooLong := range append(append(spellings(minutes), spellings(minutes+1)...), spellings(10*minutes)...) {
				require.Error(t, setWindow(schedule, tooLong), "%s for %s", schedule, tooLong)
			}
			start := time.Date(2026, time.November, 28, 11, 7, 5, 0, time.UTC)
			require.NoError(t, checkLifts(schedule, bound.gap-time.Minute, start))
			require.NoError(t, checkNeverLifts(schedule, bound.gap, start))
		}
	}
	// Days that differ in their distance are held to the least that there may be between two firings, a day.
	for _, schedule := range []string{"0 9 * * MON-FRI", "0 9 * * MON,THU", "0 9 * * 1-5/2", "0 9 * * SUN,MON"} {
		require.NoError(t, setWindow(schedule, "23h59m"), schedule)
		require.Error(t, setWindow(schedule, "24h"), schedule)
		require.Error(t, setWindow(schedule, "1440m"), schedule)
	}
}

// spellings writes a number of minutes in the ways that a duration can be written.
func spellings(minutes int) []string {
	all := []string{fmt.Sprintf("%dm", minutes), fmt.Sprintf("%dh%dm", minutes/60, minutes%60), fmt.Sprintf("00%dm", minutes), fmt.Sprintf("0h%dm", minutes)}
	if minutes%60 == 0 {
		all = append(all, fmt.Sprintf("%dh", minutes/60), fmt.Sprintf("0%dh", minutes/60))
	}
	return all
}

// checkNeverLifts says when, within two weeks, a budget is not active. It begins to look once the first window is open.
func checkNeverLifts(schedule string, length time.Duration, start time.Time) error {
	budget := windowBudget(schedule, length)
	for at := start.Add(week); at.Before(start.Add(3 * week)); at = at.Add(29 * time.Minute) {
		if active, err := budget.IsActive(clockAt(at)); err != nil || !active {
			return errors.Join(err, fmt.Errorf("%s for %s is not active at %s", schedule, length, at))
		}
	}
	return nil
}
