package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asKarpenter is Karpenter's own question: is the first firing after now - duration not after now?
func asKarpenter(s Schedule, duration time.Duration, now time.Time) bool {
	return !s.Next(now.Add(-duration)).After(now)
}

// randomSchedule makes schedules of every shape that the parser takes, the impossible ones included.
func randomSchedule(random *rand.Rand) string {
	pick := func(options ...string) string { return options[random.IntN(len(options))] }
	number := func(least, most int) string { return fmt.Sprint(least + random.IntN(most-least+1)) }
	field := func(least, most int) string {
		switch random.IntN(8) {
		case 0:
			return "*"
		case 1:
			return "*/" + number(1, most)
		case 2:
			from := least + random.IntN(most-least)
			return fmt.Sprintf("%d-%d", from, from+random.IntN(most-from+1))
		case 3:
			return number(least, most) + "," + number(least, most)
		case 4:
			return number(least, most) + "/" + number(1, most)
		}
		return number(least, most)
	}
	switch random.IntN(12) {
	case 0:
		return pick("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
	case 1:
		return pick("0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 29 2 *", "30 12 29,30 2 ?", "0 0 29 2 MON", "0 0 29 2,3 *", "0 0 31 * *")
	case 2:
		return "@every " + pick("1s", "30m", "1h", "90m", "24h", "1.5s") + "     "
	case 3:
		// A minute that never comes is left out: the parser's own search takes a tenth of a second over it.
		return pick("0", "*") + " " + pick(",", "1", "*") + " * * " + pick(",", "MON", "*")
	case 4, 5, 6:
		return fmt.Sprintf("%s %s * * %s", field(0, 59), field(0, 23), pick("*", "?", "MON-FRI", "SAT", "0,6", "sun", "*/2", "TUE,THU"))
	}
	return fmt.Sprintf("%s %s %s %s %s", field(0, 59), field(0, 23), pick("*", field(1, 31)), pick("*", "*", field(1, 12)), pick("*", field(0, 6)))
}

func randomDuration(random *rand.Rand) time.Duration {
	switch random.IntN(6) {
	case 0:
		return time.Duration(random.IntN(90)) * time.Minute
	case 1:
		return []time.Duration{0, time.Minute, time.Hour, 24 * time.Hour, 168 * time.Hour, 744 * time.Hour, 8760 * time.Hour, 8784 * time.Hour, 2562047 * time.Hour}[random.IntN(9)]
	case 2:
		return time.Duration(random.IntN(20000)) * time.Hour
	}
	return time.Duration(random.IntN(200)) * time.Hour
}

// TestActiveIsKarpenters holds Active against Karpenter's question, at random times and on and beside every boundary of
// the spans, and the spans against Active.
func TestActiveIsKarpenters(t *testing.T) {
	seed := uint64(20261130)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		text, duration := randomSchedule(random), randomDuration(random)
		s, err := Parse(text)
		require.NoError(t, err, text)
		w := NewWindows(s, duration)
		year := []int{1969, 2026, 2028, 2095, 2096, 2097, 2098, 2099, 2100, 2103}[random.IntN(10)]
		from := time.Date(year, time.Month(1+random.IntN(12)), 1+random.IntN(31), random.IntN(24), random.IntN(60), random.IntN(60), 0, time.UTC)
		to := from.Add(time.Duration(random.IntN(60*24)) * time.Hour)
		what := fmt.Sprintf("%q for %s between %s and %s", text, duration, from.Format(time.RFC3339), to.Format(time.RFC3339))

		times := []time.Time{from, to}
		for range 10 {
			times = append(times, from.Add(time.Duration(random.Int64N(int64(to.Sub(from))+1))))
		}
		spans := w.Spans(from, to)
		for i, span := range spans {
			require.True(t, span.From.Before(span.To), what)
			require.True(t, i == 0 || spans[i-1].To.Before(span.From), "%s: spans touch", what)
			if i > 20 {
				continue
			}
			for _, boundary := range []time.Time{span.From, span.To} {
				times = append(times, boundary.Add(-time.Second), boundary.Add(-1), boundary, boundary.Add(1), boundary.Add(time.Second))
			}
		}
		for _, at := range times {
			want := asKarpenter(s, duration, at)
			require.Equal(t, want, w.Active(at), "%s: at %s", what, at.Format(time.RFC3339Nano))
			if at.Before(from) || !at.Before(to) {
				continue
			}
			inside := false
			for _, span := range spans {
				inside = inside || !at.Before(span.From) && at.Before(span.To)
			}
			require.Equal(t, want, inside, "%s: spans at %s", what, at.Format(time.RFC3339Nano))
		}
	}
}

func TestWindowsKinds(t *testing.T) {
	for _, test := range []struct {
		text            string
		duration        time.Duration
		always, never   bool
		impossible      bool
		repeatsEachWeek bool
	}{
		{"@hourly", time.Hour, true, false, false, true},
		{"@hourly", 59 * time.Minute, false, false, false, true},
		{"0 9 * * *", 24 * time.Hour, true, false, false, true},
		{"0 9 * * MON-FRI", 24 * time.Hour, false, false, false, true},
		{"0 9 * * MON-FRI", 72 * time.Hour, true, false, false, true},
		{"@weekly", 168 * time.Hour, true, false, false, true},
		{"@weekly", 167 * time.Hour, false, false, false, true},
		{"@monthly", 743 * time.Hour, false, false, false, false},
		{"@monthly", 744 * time.Hour, true, false, false, true},
		{"@yearly", 8783 * time.Hour, false, false, false, false},
		{"@yearly", 8784 * time.Hour, true, false, false, true},
		{"0 9 1-31 * *", time.Hour, false, false, false, true},
		{"0 9 1-31 * MON", time.Hour, false, false, false, true}, // "or" with every day
		{"0 9 1 * 0-6", time.Hour, false, false, false, true},    // "or" with every weekday
		{"0 9 1 * *", time.Hour, false, false, false, false},
		{"0 9 * 1 MON", time.Hour, false, false, false, false},
		{"0 0 31 2 *", time.Hour, true, false, true, true},
		{"0 0 31 2 *", 0, true, false, true, true},
		{"0 9 * * ,", time.Hour, true, false, true, true},
		{"0 9 * * *", 0, false, true, false, true},
		{"@every 1h     ", time.Hour, true, false, false, true},
		{"@every 1h     ", 59 * time.Minute, false, true, false, true},
		{"0 0 29 2 *", time.Hour, false, false, false, false},
		{"0 0 29 2 *", 0, false, false, false, false}, // active for years about 2097, as the parser sees no next one
	} {
		s, err := Parse(test.text)
		require.NoError(t, err)
		w := NewWindows(s, test.duration)
		what := fmt.Sprintf("%s for %s", test.text, test.duration)
		assert.Equal(t, test.always, w.Always(), what)
		assert.Equal(t, test.never, w.Never(), what)
		assert.Equal(t, test.impossible, w.Impossible(), what)
		assert.Equal(t, test.repeatsEachWeek, w.RepeatsWeekly(), what)
	}
}

// TestAYearOfSpans counts the windows of a year.
func TestAYearOfSpans(t *testing.T) {
	from, to := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]int{"0 9 * * *": 365, "0 9 * * MON-FRI": 261, "@hourly": 8760, "*/2 * * * *": 262800, "@monthly": 12, "@yearly": 1, "0 0 29 2 *": 0} {
		s, _ := Parse(text)
		w := NewWindows(s, time.Minute)
		assert.Len(t, w.Spans(from, to), want, text)
	}
}
