package window

import (
	"errors"
	"testing"
	"time"
)

// FuzzSpec reads whatever comes as a SPEC. What is taken can be planned, and blocks what it does not allow.
func FuzzSpec(f *testing.F) {
	for _, text := range []string{"sat 09:00-13:00", "mon , fri-mon 22:00-02:00", "weekdays 0:00-24:00", "", "sat", "24:00-24:00", "a-b-c 1:1-2:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		week, err := ParseSpec(text)
		var wrong *SpecError
		if err != nil {
			if !errors.As(err, &wrong) || wrong.Column < 1 || wrong.Column > len([]rune(text))+1 {
				t.Fatalf("%#v", err)
			}
			return
		}
		plan, err := Make(Request{Allowed: week, Zone: time.UTC})
		if err != nil {
			if week.Len() != minutesPerWeek {
				t.Fatal(err)
			}
			return
		}
		minutes := 0
		for _, entry := range plan.Entries {
			minutes += entry.Days.Len() * len(entry.Hours) * int(entry.Length.Minutes())
		}
		if minutes+week.Len() != minutesPerWeek {
			t.Fatalf("%d minutes blocked, %d allowed", minutes, week.Len())
		}
	})
}
