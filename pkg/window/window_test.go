package window

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustParse(t testing.TB, specs ...string) Week {
	t.Helper()
	var week Week
	for _, spec := range specs {
		one, err := ParseSpec(spec)
		require.NoError(t, err, spec)
		week.Add(&one)
	}
	return week
}

func entries(t testing.TB, plan *Plan) string {
	t.Helper()
	var list []string
	for _, entry := range plan.Entries {
		list = append(list, entry.Schedule()+" for "+entry.Duration())
	}
	return strings.Join(list, "; ")
}

// TestPlans are windows that people ask for, allowed and blocked.
func TestPlans(t *testing.T) {
	for spec, want := range map[string]string{
		"sat 09:00-13:00":                                 "0 13 * * SAT for 164h",
		"02:00-04:00":                                     "0 4 * * * for 22h",
		"daily 02:00-04:00":                               "0 4 * * * for 22h",
		"mon,wed,fri 00:00-02:00":                         "0 2 * * MON,WED for 46h; 0 2 * * FRI for 70h",
		"weekdays 09:00-17:00":                            "0 17 * * MON-THU for 16h; 0 17 * * FRI for 64h",
		"weekends 00:00-24:00":                            "0 0 * * MON for 120h",
		"fri-mon 22:00-02:00":                             "0 2 * * MON,SAT,SUN for 20h; 0 2 * * TUE for 92h",
		"sun 22:30-00:15":                                 "15 0 * * MON for 166h15m",
		"Saturday 09:00-13:00":                            "0 13 * * SAT for 164h",
		"sat , sun 1:00-2:00":                             "0 2 * * SAT for 23h; 0 2 * * SUN for 143h",
		"mon 00:00-24:00|tue 0:00-24:00":                  "0 0 * * WED for 120h",
		"02:00-04:00|14:00-16:00":                         "0 4,16 * * * for 10h",
		"weekdays 02:00-04:00|weekdays 14:00-16:00":       "0 4 * * MON-FRI for 10h; 0 16 * * MON-THU for 10h; 0 16 * * FRI for 58h",
		"sat 09:00-12:00|sat 11:00-13:00|sat 13:00-14:00": "0 14 * * SAT for 163h",
	} {
		plan, err := Make(Request{Allowed: mustParse(t, strings.Split(spec, "|")...), Zone: time.UTC, From: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)})
		require.NoError(t, err, spec)
		assert.Equal(t, want, entries(t, plan), spec)
		assert.Nil(t, plan.Change, spec)
	}
	blocked := mustParse(t, "weekdays 09:00-17:00")
	plan, err := Make(Request{Allowed: blocked.Complement(), Zone: time.UTC})
	require.NoError(t, err)
	assert.Equal(t, "0 9 * * MON-FRI for 8h", entries(t, plan))
}

func TestRefusedPlans(t *testing.T) {
	none, all := Week{}, mustParse(t, "00:00-24:00")
	_, err := Make(Request{Allowed: none, Zone: time.UTC})
	assert.ErrorIs(t, err, ErrNothingAllowed)
	_, err = Make(Request{Allowed: all, Zone: time.UTC})
	assert.ErrorIs(t, err, ErrNothingBlocked)
	berlin, err := LoadZone("Europe/Berlin")
	require.NoError(t, err)
	_, err = Make(Request{Allowed: mustParse(t, "sat 02:00-03:00"), Zone: berlin, From: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), YearRound: true})
	assert.ErrorIs(t, err, ErrNothingLeft)
}

func TestSpecErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                `"": at character 1: it is empty; write [DAYS ]HH:MM-HH:MM`,
		"   ":                             `at character 1: it is empty`,
		"sat":                             `at character 1: "sat" is no span of time`,
		"sat 09:00":                       `at character 5: "09:00" is no span of time`,
		"sat 9-13":                        `at character 5: "9" is not a time of day`,
		"sat 09:00-25:00":                 `at character 11: "25:00" is not a time of day`,
		"sat 09:60-10:00":                 `at character 5: "09:60" is not a time of day`,
		"sat 09:00-24:01":                 `at character 11: "24:01" is not a time of day`,
		"sat 24:00-01:00":                 `at character 5: 24:00 ends a day and begins none`,
		"sat 09:00-09:00":                 `at character 5: the window is empty`,
		"sat 09:00 - 13:00":               `at character 5: "09:00" is no span of time`,
		"sat 09:00-13:00 sun 09:00-10:00": `at character 5: a SPEC is one window; give the next one with a flag of its own`,
		"sat 09:00-09:00-10:00":           `at character 11: "09:00-10:00" is not a time of day`,
		"satt 09:00-10:00":                `at character 1: "satt" is not a day`,
		"mon,,fri 09:00-10:00":            `at character 5: a day is missing`,
		"mon-fry 09:00-10:00":             `at character 5: "fry" is not a day`,
		"mon-tue-wed 0:00-1:00":           `at character 5: "tue-wed" is not a day`,
		"weekday 09:00-10:00":             `did you mean "weekdays"?`,
		"1-5 09:00-10:00":                 `at character 1: "1" is not a day`,
		"sat 09:00-10:00 UTC":             `at character 17: "UTC" is no span of time`,
		"sät 09:00-10:00":                 `at character 1: "sät" is not a day`,
		"sat 09:00\u201313:00":            `is no span of time`,
		"sat -1:00-02:00":                 `is not a time of day`,
		"sat 0009:00-10:00":               `is not a time of day`,
		"weekdays-fri 0:00-1:00":          `at character 1: "weekdays" is not a day`,
	} {
		_, err := ParseSpec(spec)
		assert.ErrorContains(t, err, want, spec)
	}
}

// TestZones shows the plans for a zone, before and after its next change.
func TestZones(t *testing.T) {
	for _, test := range []struct{ zone, from, now, change, then string }{
		{"Europe/Berlin", "2026-12-01", "0 12 * * SAT for 164h", "2027-03-28T01:00:00Z 60 120", "0 11 * * SAT for 164h"},
		{"Europe/Berlin", "2026-07-01", "0 11 * * SAT for 164h", "2026-10-25T01:00:00Z 120 60", "0 12 * * SAT for 164h"},
		{"America/New_York", "2026-12-01", "0 18 * * SAT for 164h", "2027-03-14T07:00:00Z -300 -240", "0 17 * * SAT for 164h"},
		{"Australia/Lord_Howe", "2026-12-01", "0 2 * * SAT for 164h", "2027-04-03T15:00:00Z 660 630", "30 2 * * SAT for 164h"},
		{"Asia/Kolkata", "2026-12-01", "30 7 * * SAT for 164h", "", ""},
		{"Pacific/Auckland", "2026-12-01", "0 0 * * SAT for 164h", "2027-04-03T14:00:00Z 780 720", "0 1 * * SAT for 164h"},
		{"America/St_Johns", "2026-12-01", "30 16 * * SAT for 164h", "2027-03-14T05:30:00Z -210 -150", "30 15 * * SAT for 164h"},
	} {
		zone, err := LoadZone(test.zone)
		require.NoError(t, err)
		from, err := time.Parse(time.DateOnly, test.from)
		require.NoError(t, err)
		plan, err := Make(Request{Allowed: mustParse(t, "sat 09:00-13:00"), Zone: zone, From: from})
		require.NoError(t, err)
		assert.Equal(t, test.now, entries(t, plan), test.zone)
		if test.change == "" {
			assert.Nil(t, plan.Change, test.zone)
			continue
		}
		assert.Equal(t, test.change, fmt.Sprintf("%s %d %d", plan.Change.At.UTC().Format(time.RFC3339), plan.Change.Before, plan.Change.After), test.zone)
		assert.Equal(t, test.then, entries(t, plan.Then), test.zone)
	}
	for name, want := range map[string]string{
		"berlin": "did you mean Europe/Berlin?", "Europe/Berlinn": "did you mean Europe/Berlin?", "new york": "did you mean America/New_York?",
		"CST": "such as Europe/Berlin or UTC", "Mars/Olympus": "such as Europe/Berlin or UTC", "": "unknown time zone", "Local": "unknown time zone", "../etc/passwd": "unknown time zone",
	} {
		_, err := LoadZone(name)
		assert.ErrorContains(t, err, want, name)
	}
	for name := range strings.FieldsSeq(zoneNames) {
		_, err := LoadZone(name)
		assert.NoError(t, err)
	}
}

// TestPlansAllowWhatIsAsked asks, minute by minute over random days of two years, what the budgets of a plan allow, and
// holds it against the clock on the wall.
func TestPlansAllowWhatIsAsked(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 30))
	zones := []string{"UTC", "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Auckland", "Asia/Kolkata", "Africa/Casablanca", "Pacific/Chatham"}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 60 {
		zone, err := LoadZone(zones[random.IntN(len(zones))])
		require.NoError(t, err)
		spec := randomSpec(random)
		allowed := mustParse(t, spec)
		what := fmt.Sprintf("%q in %s", spec, zone)

		round, err := Make(Request{Allowed: allowed, Zone: zone, From: start, YearRound: true})
		if err != nil {
			require.ErrorIs(t, err, ErrNothingLeft, what)
		}
		var always *nodepool.Evaluator
		if round != nil {
			always = evaluator(round)
			assert.Equal(t, allowed.Len()-round.GivenUp, minutesPerWeek-round.Blocked.Len(), what)
		}
		for range 6 {
			from := start.Add(time.Duration(random.IntN(2*365*24*60)) * time.Minute)
			plan, err := Make(Request{Allowed: allowed, Zone: zone, From: from})
			require.NoError(t, err, what)
			now := evaluator(plan)
			for minute := range 24 * 60 {
				at := from.Add(time.Duration(minute) * time.Minute)
				if plan.Change != nil && !at.Before(plan.Change.At) {
					now = evaluator(plan.Then)
				}
				want := allowed.Has(at.In(zone))
				require.Equal(t, want, now.Ceiling(nodepool.Drifted, at, 100) > 0, "%s at %s", what, at)
				require.Positive(t, now.Ceiling(nodepool.Empty, at, 100), what)
				if always != nil && !want {
					require.Zero(t, always.Ceiling(nodepool.Drifted, at, 100), "%s all year round at %s", what, at)
				}
			}
		}
		// The day of each change is where an hour goes wrong.
		for at := start; ; {
			change, found := NextChange(zone, at)
			if !found || change.At.After(start.AddDate(2, 0, 0)) {
				break
			}
			at = change.At
			if always == nil {
				continue
			}
			for minute := -24 * 60; minute < 24*60; minute++ {
				near := at.Add(time.Duration(minute) * time.Minute)
				if !allowed.Has(near.In(zone)) {
					require.Zero(t, always.Ceiling(nodepool.Drifted, near, 100), "%s all year round at %s", what, near)
				}
			}
		}
	}
}

func evaluator(plan *Plan) *nodepool.Evaluator {
	return nodepool.NewEvaluator(plan.Budgets("10%", nodepool.Reasons{nodepool.Drifted, nodepool.Underutilized}, nil))
}

func randomSpec(random *rand.Rand) string {
	days := []string{"", "daily ", "weekdays ", "weekends ", "sat ", "fri-mon ", "mon,wed,fri ", "sun,tue-thu "}[random.IntN(8)]
	from := random.IntN(24*4) * 15
	length := []int{15, 30, 60, 120, 240, 480, 720, 1425}[random.IntN(8)]
	to := from + length
	return fmt.Sprintf("%s%02d:%02d-%02d:%02d", days, from/60, from%60, to/60%24, to%60)
}

// TestFarFuture shows that planning ends for times beyond the tables of the zones too.
func TestFarFuture(t *testing.T) {
	for _, name := range []string{"Europe/London", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "UTC"} {
		zone, err := LoadZone(name)
		require.NoError(t, err)
		for year := 2030; year < 2100; year += 7 {
			from := time.Date(year, 12, 31, 12, 0, 0, 0, time.UTC)
			_, err := Make(Request{Allowed: mustParse(t, "sat 09:00-13:00"), Zone: zone, From: from, YearRound: true})
			require.NoError(t, err)
			change, found := NextChange(zone, from)
			require.True(t, !found || change.At.After(from) && change.At.Before(from.AddDate(1, 0, 0)), "%s %d: %v", name, year, change)
		}
	}
}

func TestReasons(t *testing.T) {
	plan, err := Make(Request{Allowed: mustParse(t, "sat 09:00-13:00"), Zone: time.UTC})
	require.NoError(t, err)
	budgets := plan.Budgets("20%", nodepool.Reasons{nodepool.Drifted}, nodepool.Reasons{nodepool.Underutilized})
	assert.Equal(t, nodepool.Budgets{
		{Nodes: "20%"},
		{Nodes: "0", Reasons: nodepool.Reasons{nodepool.Underutilized}},
		{Nodes: "0", Reasons: nodepool.Reasons{nodepool.Drifted}, Schedule: "0 13 * * SAT", Duration: "164h"},
	}, budgets)
}
