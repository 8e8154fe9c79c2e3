package schedule

import (
	"testing"
	"time"
)

// FuzzWindows reads whatever comes as a schedule. What is taken answers, at any time and for any duration, as the question does that
// Karpenter asks: whether the first firing after now less the duration is not after now; and its spans say the same.
func FuzzWindows(f *testing.F) {
	for _, text := range []string{"0 9 * * MON-FRI", "*/7 3-9/2 29 2 *", "@hourly", "@every 90m", "0 0 31 2 *", "59 23 * 12 0,6", "0 9 * * sun-sat", "TZ=UTC 0 0 * * *", "0 0 1 1 ?"} {
		f.Add(text, 90, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, minutes int, at int64) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		// A year in which every schedule has been asked, and a duration that a budget can have.
		now := time.Unix(1_700_000_000+modulo(at, 400_000_000), 0).UTC()
		duration := time.Duration(modulo(int64(minutes), 60_000)) * time.Minute
		windows := NewWindows(s, duration)
		want := !s.Next(now.Add(-duration)).After(now)
		if got := windows.Active(now); got != want {
			t.Fatalf("%q for %s at %s: active %t, and Karpenter says %t", text, duration, now, got, want)
		}
		if windows.SpansPerDay() > 100 {
			return
		}
		from := now.Add(-36 * time.Hour)
		inside := false
		last := from
		for _, span := range windows.Spans(from, now.Add(time.Hour)) {
			if span.From.Before(last) || !span.To.After(span.From) {
				t.Fatalf("%q for %s: spans out of order", text, duration)
			}
			inside = inside || !now.Before(span.From) && now.Before(span.To)
			last = span.To
		}
		if inside != want {
			t.Fatalf("%q for %s: the spans say %t at %s, and Karpenter says %t", text, duration, inside, now, want)
		}
	})
}
