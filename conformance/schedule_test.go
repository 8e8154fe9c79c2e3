package conformance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"rackparams/params"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

const (
	scheduleName = "karpenter_disruption_block_schedule"
	durationName = "karpenter_disruption_block_duration"
)

// setWindow sets the disruption window on a rack that knows it, and returns what is wrong with it.
func setWindow(schedule, duration string) error {
	rack, err := params.NewRack("aws", map[string]string{"release": "3.25.7"})
	if err != nil {
		return err
	}
	_, err = rack.Apply(params.Change{Set: map[string]string{scheduleName: schedule, durationName: duration}})
	return err
}

// windowBudget is the budget that a disruption window becomes.
func windowBudget(schedule string, duration time.Duration) karpenterv1.Budget {
	return karpenterv1.Budget{Nodes: "0", Schedule: &schedule, Duration: &metav1.Duration{Duration: duration}}
}

// TestAcceptedSchedules shows that Karpenter parses every schedule that the disruption window takes, and that the API
// server lets it through.
func TestAcceptedSchedules(t *testing.T) {
	patterns := schedulePatterns(t)
	var seen tally
	forEachCase(t, 60_000, func(r *rand.Rand) error {
		schedule := oneOf(r, blockSchedule, spacedSchedule, mutatedSchedule)(r)
		if setWindow(schedule, "1m") != nil {
			seen.add("refused")
			return nil
		}
		seen.add("accepted")
		if checkSchedule(schedule, patterns) == nil {
			return nil
		}
		return checkSchedule(shrink(schedule, smallerText, func(schedule string) bool {
			return setWindow(schedule, "1m") == nil && checkSchedule(schedule, patterns) != nil
		}), patterns)
	})
	t.Logf("accepted %d, refused %d", seen.of("accepted"), seen.of("refused"))
	seen.requireAll(t, []string{"accepted", "refused"})
}

// checkSchedule says why a schedule does not become a budget: Karpenter cannot parse it, or it does not match one of the
// patterns.
func checkSchedule(schedule string, patterns map[string]*regexp.Regexp) error {
	budget := windowBudget(schedule, time.Minute)
	if _, err := budget.IsActive(clocks[0]); err != nil {
		return fmt.Errorf("%s=%q is taken, and Karpenter cannot parse it: %w", scheduleName, schedule, err)
	}
	for name, pattern := range patterns {
		if !pattern.MatchString(schedule) {
			return fmt.Errorf("%s=%q is taken, and the CRD of %s refuses it: it does not match %s", scheduleName, schedule, name, pattern)
		}
	}
	return nil
}

// schedulePatterns returns the pattern for schedules of each version of the CRD, by its name.
func schedulePatterns(t *testing.T) map[string]*regexp.Regexp {
	t.Helper()
	versions, err := crds()
	require.NoError(t, err)
	patterns := map[string]*regexp.Regexp{}
	for _, crd := range versions {
		patterns[crd.name] = regexp.MustCompile(crd.budgetPattern("schedule"))
	}
	return patterns
}

// TestWeekdayFields shows that the disruption window takes a weekday field exactly when Karpenter can parse it. The one
// exception is a field of nothing but commas, which Karpenter parses: no day matches it, and Karpenter takes a budget
// that never fires to be always active.
func TestWeekdayFields(t *testing.T) {
	var seen tally
	forEachCase(t, 120_000, func(r *rand.Rand) error {
		field := oneOf(r, weekdayField, mutatedWeekdayField, mutatedWeekdayField, anyField)(r)
		if field == "" || strings.ContainsFunc(field, unicode.IsSpace) {
			seen.add("not one field")
			return nil
		}
		if !utf8.ValidString(field) || strings.ContainsFunc(field, unicode.IsControl) {
			return checkNoText(field, &seen)
		}
		err := checkWeekdayField(field, &seen)
		if err == nil {
			return nil
		}
		smallest := shrink(field, smallerText, func(field string) bool { return field != "" && checkWeekdayField(field, &tally{}) != nil })
		return checkWeekdayField(smallest, &tally{})
	})
	t.Logf("accepted %d, refused %d, of commas only %d, no text %d, not one field %d",
		seen.of("accepted"), seen.of("refused"), seen.of("commas"), seen.of("no text"), seen.of("not one field"))
	seen.requireAll(t, []string{"accepted", "refused", "commas", "no text"})
}

// checkNoText holds fields that are no text to the rule for the values of all parameters, which takes none of them. For
// the weekday alone that is more than is needed: Karpenter reads "*-" and anything behind it as "*".
func checkNoText(field string, seen *tally) error {
	seen.add("no text")
	if setWindow("0 9 * * "+field, "1h") == nil {
		return fmt.Errorf("the weekday %q is taken, and it is no text", field)
	}
	return nil
}

// checkWeekdayField says where the program and Karpenter differ about a weekday field, and counts on which side it is.
func checkWeekdayField(field string, seen *tally) error {
	schedule := "0 9 * * " + field
	refusal := setWindow(schedule, "1h")
	budget := windowBudget(schedule, time.Hour)
	_, unparsed := budget.IsActive(clocks[0])
	switch {
	case refusal == nil && unparsed == nil:
		seen.add("accepted")
	case refusal != nil && unparsed != nil:
		seen.add("refused")
	case refusal == nil:
		return fmt.Errorf("the weekday %q is taken, and Karpenter cannot parse it: %w", field, unparsed)
	case strings.Trim(field, ",") == "":
		seen.add("commas")
		return checkAlwaysActive(budget)
	default:
		return fmt.Errorf("the weekday %q is refused, and Karpenter parses it: %w", field, refusal)
	}
	return nil
}

// checkAlwaysActive says when a budget is not active.
func checkAlwaysActive(budget karpenterv1.Budget) error {
	for _, clock := range clocks {
		if active, err := budget.IsActive(clock); err != nil || !active {
			return errors.Join(err, fmt.Errorf("the budget of schedule %q is not active at %s", *budget.Schedule, clock.Now()))
		}
	}
	return nil
}

// TestOddWeekdays names spellings that people are surprised by, in both directions.
func TestOddWeekdays(t *testing.T) {
	for _, field := range []string{
		"mon", "Mon", "mOn-fRi", "0", "6", "00", "01", "+1", "+1-+5", "?", "*", "*/2", "?/2", "1-5/2", "MON/2", "0/6", "*/8", "*-9", ",MON",
		"MON,", "MON,,TUE", "MON,MON", "1-1", "SUN-SAT", "0-6", "MON-5", "*,MON",
	} {
		require.NoError(t, setWindow("0 9 * * "+field, "1h"), field)
		require.NoError(t, checkWeekdayField(field, &tally{}))
	}
	for _, field := range []string{
		"7", "SAT-SUN", "FRI-MON", "1-7", "5-1", "MONDAY", "MONN", "MO", "L", "5L", "5#1", "W", "*/0", "MON/0", "-1", "1-2-3", "1/2/3", "1.5",
		"0x1", "MON;TUE", "MON|TUE", "%", "*/-1", "MON-", "-MON", "--", "/", "*/", "１", "", "ＭＯＮ", ",", ",,,",
	} {
		require.Error(t, setWindow("0 9 * * "+field, "1h"), field)
		if field != "" {
			require.NoError(t, checkWeekdayField(field, &tally{}))
		}
	}
}

// blockSchedule returns a schedule that the disruption window takes.
func blockSchedule(r *rand.Rand) string {
	if chance(r, 0.2) {
		return oneOf(r, "@hourly", "@daily", "@midnight", "@weekly")
	}
	return strings.Join(blockFields(r), " ")
}

// blockFields are the five fields of such a schedule.
func blockFields(r *rand.Rand) []string {
	number := func(most int) string { return fmt.Sprintf(oneOf(r, "%d", "%02d"), r.IntN(most+1)) }
	return []string{number(59), number(23), "*", "*", weekdayField(r)}
}

// spacedSchedule returns a schedule whose fields stand apart by other than one blank: Karpenter's parser splits at
// whatever Unicode calls a space, and the pattern of the CRD knows those of ASCII only.
func spacedSchedule(r *rand.Rand) string {
	fields := blockFields(r)
	schedule := fields[0]
	for _, field := range fields[1:] {
		schedule += oneOf(r, " ", "  ", "   ", "\t", "\u00a0", "\u2003", "\u3000", " \u00a0", "\n") + field
	}
	return schedule
}

// mutatedSchedule returns a schedule with a few characters changed.
func mutatedSchedule(r *rand.Rand) string {
	return mutated(r, blockSchedule(r), digits+"-,*/?@ \t"+letters)
}

// weekdayField returns a weekday field that Karpenter parses, in any of the spellings that it knows.
func weekdayField(r *rand.Rand) string {
	var items []string
	for range oneOf(r, 1, 1, 1, 2, 3) {
		items = append(items, weekdayItem(r))
	}
	if chance(r, 0.1) {
		items = append(items, "")
	}
	if chance(r, 0.1) {
		items = append([]string{""}, items...)
	}
	return strings.Join(items, oneOf(r, ",", ",", ",,"))
}

// weekdayItem returns one item of the list that a weekday field is.
func weekdayItem(r *rand.Rand) string {
	first := r.IntN(7)
	last := first + r.IntN(7-first)
	step := fmt.Sprint(oneOf(r, 1, 2, 3, 6, 7, 100))
	return oneOf(r,
		weekday(r, first), weekday(r, first), weekday(r, first)+"-"+weekday(r, last), weekday(r, first)+"-"+weekday(r, last)+"/"+step,
		weekday(r, first)+"/"+step, oneOf(r, "*", "?"), oneOf(r, "*", "?")+"/"+step)
}

// weekday returns a day as a number or as a name, in any case.
func weekday(r *rand.Rand, day int) string {
	if chance(r, 0.5) {
		return fmt.Sprintf(oneOf(r, "%d", "%d", "0%d", "+%d", "000%d"), day)
	}
	name := []rune(time.Weekday(day).String()[:3])
	for i := range name {
		name[i] = oneOf(r, unicode.ToUpper, unicode.ToUpper, unicode.ToLower)(name[i])
	}
	return string(name)
}

// mutatedWeekdayField returns a weekday field with a few characters changed.
func mutatedWeekdayField(r *rand.Rand) string {
	return mutated(r, oneOf(r, weekdayField(r), weekdayField(r), weekdayItem(r), "SAT-SUN", "1-7", "MONDAY", "5L", "5#2", ","), "0123456789012345678901234567890-,-,-,*/?+#LWsunmotewdhfria7.;|")
}

// anyField returns text that no one meant as a weekday field.
func anyField(r *rand.Rand) string {
	n := 1 + r.IntN(6)
	switch r.IntN(4) {
	case 0:
		return strings.Repeat(",", n)
	case 1:
		return characters(r, "0123456789,-*/?+", n)
	case 2:
		return characters(r, letters+digits+"!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~\\\x00\x01\x7f\xff\x80", n)
	}
	field := make([]rune, n)
	for i := range field {
		field[i] = oneOf(r, rune(r.IntN(0x250)), rune(r.IntN(0x3000)), rune('0'+r.IntN(10)), ',', '-', '*', 'Ｍ', 'ſ', 'K', '٣')
	}
	return string(field)
}

// mutated returns text with one to three characters taken out, put in, changed, doubled or swapped.
func mutated(r *rand.Rand, text, alphabet string) string {
	changed, letters := []rune(text), []rune(alphabet)
	for range 1 + r.IntN(3) {
		if len(changed) == 0 {
			changed = append(changed, oneOf(r, letters...))
		}
		i, j := r.IntN(len(changed)), r.IntN(len(changed))
		switch r.IntN(5) {
		case 0:
			changed = slices.Delete(changed, i, i+1)
		case 1:
			changed = slices.Insert(changed, i, oneOf(r, letters...))
		case 2:
			changed[i] = oneOf(r, letters...)
		case 3:
			changed = slices.Insert(changed, i, changed[i])
		case 4:
			changed[i], changed[j] = changed[j], changed[i]
		}
	}
	return string(changed)
}
