package schedule

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNext(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // a Monday
	for text, want := range map[string]string{
		"0 13 * * *":          "2026-11-30T13:00:00Z",
		"0 12 * * *":          "2026-12-01T12:00:00Z", // strictly after
		"0 9 * * SAT":         "2026-12-05T09:00:00Z",
		"@weekly":             "2026-12-06T00:00:00Z",
		"@hourly":             "2026-11-30T13:00:00Z",
		"0 0 29 2 *":          "2028-02-29T00:00:00Z",
		"  0  13\t* * mon  ":  "2026-11-30T13:00:00Z",
		"0 0 1 * MON":         "2026-12-01T00:00:00Z", // day of the month or weekday, where both are restricted
		"@every 90m         ": "2026-11-30T13:30:00Z",
	} {
		s, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, s.Next(at).Format(time.RFC3339), text)
	}
	never, err := Parse("0 0 31 2 *")
	require.NoError(t, err)
	assert.True(t, never.Next(at).IsZero())
	assert.True(t, Schedule{}.Next(at).IsZero())

	elsewhere := time.FixedZone("UTC-5", -5*3600)
	s, _ := Parse("0 13 * * *")
	assert.Equal(t, "2026-11-30T13:00:00Z", s.Next(at.In(elsewhere)).Format(time.RFC3339))
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", " ", "@never", "@Daily", "0 9 * *", "0 9 * * 7", "0 9 * * SAT-SUN", "60 9 * * *", "TZ=UTC 0 9 * * *", "0 9 L * *", "0 9 * * MON#1", "0 9 * * */0"} {
		_, err := Parse(text)
		assert.Error(t, err, text)
	}
}

func TestWeekdays(t *testing.T) {
	for field, want := range map[string]string{
		"*": "*", "?": "*", "0-6": "*", "MON-FRI": "MON-FRI", "mon,Wed,fri": "MON,WED,FRI", "0,6": "SAT,SUN", "SUN-TUE": "SUN-TUE", "SUN,MON": "MON,SUN", "5-6,0": "FRI,SAT,SUN", "SAT-SAT": "SAT",
		"*/7": "SUN", "1-5/5": "MON", "+1": "MON", "01": "MON", "MON,,TUE": "MON,TUE", "*/2": "TUE,THU,SAT,SUN", "SAT/1": "SAT", "5/1": "FRI,SAT",
	} {
		days, err := ParseWeekdays(field)
		require.NoError(t, err, field)
		assert.Equal(t, want, days.String(), field)
		again, err := ParseWeekdays(want)
		require.NoError(t, err, want)
		assert.Equal(t, days, again, "%s as it is written", field)
	}
	for _, field := range []string{"", "7", "MONN", "SAT-SUN", "-1", "1--2", "1-2-3", "1/2/3", "*/0", "mo", "1 2", "L", "MON#2", "\u00a0"} {
		_, err := ParseWeekdays(field)
		assert.Error(t, err, field)
	}
	for _, field := range []string{",", ",,"} {
		_, err := ParseWeekdays(field)
		assert.ErrorIs(t, err, ErrNoWeekday, field)
	}
	saturday, _ := ParseWeekdays("SAT")
	assert.Equal(t, 1, saturday.Len())
	assert.True(t, saturday.Has(time.Saturday))
	assert.False(t, saturday.Has(time.Sunday))
}

func TestSuggestWeekdays(t *testing.T) {
	for field, want := range map[string]string{
		"MON-FRI": "MON-FRI", "MONN": "MON", "monday": "MON", "Tues": "TUE", "7": "0", "SAT-SUN": "SAT,SUN", "sat-sun": "SAT,SUN",
		"FRI-MON": "FRI,SAT,SUN,MON", "THU-MON": "THU-SAT,SUN,MON", "5-1": "5,6,0,1", "6-7": "6,0", "1-7": "*", "0-7": "*", "SUN-7": "*", "7-7": "0-0", "7-3": "0-3", "MON-SUN": "*", "*/0": "*",
		"monday-friday": "MON-FRI", "MON,7": "MON,0", "MON-FRI,SAT-SUN": "MON-FRI,SAT,SUN", "MON, TUE": "MON,TUE", "SUN-SATURDAY": "SUN-SAT",
		"8": "", "L": "", "5L": "", "MON#1": "", "": "", ",": "", "mo": "", "-1": "", "1-2-3": "", "xyz": "", "monkey": "MON",
	} {
		assert.Equal(t, want, SuggestWeekdays(field), field)
	}
}
