package params

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/schedule"
	"rackparams/pkg/shape"
)

// The two parameters of the disruption window.
const (
	blockScheduleName = "karpenter_disruption_block_schedule"
	blockDurationName = "karpenter_disruption_block_duration"
)

// WindowReasons are the reasons that the disruption window of a rack blocks.
func WindowReasons() nodepool.Reasons {
	return nodepool.Reasons{nodepool.Drifted, nodepool.Underutilized}
}

// WindowBudget is the budget that a rack renders for its disruption window.
func WindowBudget(schedule, duration string) nodepool.Budget {
	return nodepool.Budget{Nodes: "0", Reasons: WindowReasons(), Schedule: schedule, Duration: duration}
}

// ExpiryWarning is due whenever a window parameter is given a value. Scripts know it to the letter.
const ExpiryWarning = `WARNING: the disruption window paces drift and consolidation, not node expiry. A node reaching karpenter_node_expiry is deleted inside the window, with no budget and no replacement waiting.
Existing nodes keep the expiry they were created with, so karpenter_node_expiry=Never reaches a node only when that node is replaced.
Set karpenter_node_expiry=Never and let the fleet roll before arming the window.`

// windowSchedule takes the schedules that carry a window of a fixed length: at most one firing a day, on weekdays that
// Karpenter's parser reads.
type windowSchedule struct{}

var blockSchedule windowSchedule

func (windowSchedule) Accepts() string {
	return `a schedule in UTC that fires at most once a day: five fields with one minute, one hour, * for day-of-month and month, and weekdays, such as "0 9 * * MON-FRI"; or @hourly, @daily, @midnight or @weekly`
}

func (w windowSchedule) check(p *Parameter, text string, _ context) (string, []string) {
	if problems := scheduleProblems(text); problems != nil {
		for i, problem := range problems {
			problems[i] = fmt.Sprintf("%s=%s: %s", p.Name, shape.Quote(text), problem)
		}
		return "", problems
	}
	return text, nil
}

func scheduleProblems(text string) []string {
	if strings.TrimSpace(text) != text {
		return []string{fmt.Sprintf("blanks stand around the schedule; write %q", shape.Shorten(strings.TrimSpace(text)))}
	}
	if strings.HasPrefix(text, "@") {
		return macroProblems(text)
	}
	// Karpenter's parser splits at every blank that Unicode has, the API server's pattern at the plain ones.
	if odd := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) && r != ' ' }); odd >= 0 {
		return []string{fmt.Sprintf("a blank in it is no plain space; write %q", strings.Join(strings.Fields(text), " "))}
	}
	if zone, _, found := strings.Cut(text, " "); found && strings.Contains(zone, "TZ=") {
		return []string{"a window runs in UTC and takes no time zone; `nodepool window --tz` works out what to set"}
	}
	fields := strings.Fields(text)
	if len(fields) != 5 {
		return []string{fmt.Sprintf("a schedule has five fields (minute, hour, day-of-month, month, weekday), and this has %d; write one such as \"0 9 * * MON-FRI\"", len(fields))}
	}
	var problems []string
	for i, field := range []struct {
		name string
		most int
	}{{"minute", 59}, {"hour", 23}} {
		if !isSingleNumber(fields[i], field.most) {
			problems = append(problems, fmt.Sprintf("the %s is %s; write a single number from 0 to %d, since a window opens at most once a day", field.name, shape.Quote(fields[i]), field.most))
		}
	}
	for i, name := range []string{"day-of-month", "month"} {
		if value := fields[2+i]; value != "*" {
			problems = append(problems, fmt.Sprintf("the %s is %s; write *, since months run 672 to 744 hours and carry no window of a fixed length", name, shape.Quote(value)))
		}
	}
	if problem := weekdayProblem(fields[4]); problem != "" {
		problems = append(problems, problem)
	}
	if spec := spanOfHours(fields); spec != "" {
		problems[0] += fmt.Sprintf("; for a window over these hours, `nodepool window --block \"%s\"` says what to set", spec)
	}
	return problems
}

// spanOfHours returns the SPEC that the author of a schedule most likely means who gave a range of hours, as in
// "0 9-17 * * MON-FRI", or "" where there is none.
func spanOfHours(fields []string) string {
	from, to, isRange := strings.Cut(fields[1], "-")
	minute := fields[0]
	if strings.HasPrefix(minute, "*") {
		minute = "0"
	}
	if !isRange || !isSingleNumber(minute, 59) || !isSingleNumber(from, 23) || !isSingleNumber(to, 23) || fields[2] != "*" || fields[3] != "*" {
		return ""
	}
	first, _ := strconv.Atoi(from)
	last, _ := strconv.Atoi(to)
	days, err := schedule.ParseWeekdays(fields[4])
	if err != nil || first == last {
		return ""
	}
	spec := fmt.Sprintf("%02d:%02s-%02d:%02s", first, minute, last, minute)
	if days != schedule.AllWeekdays {
		spec = strings.ToLower(days.String()) + " " + spec
	}
	return spec
}

func macroProblems(text string) []string {
	switch text {
	case "@hourly", "@daily", "@midnight", "@weekly":
		return nil
	case "@monthly", "@yearly", "@annually":
		return []string{"months run 672 to 744 hours, so a monthly or yearly schedule carries no window of a fixed length; write @weekly or five fields such as \"0 9 * * SAT\""}
	}
	macros := []string{"@hourly", "@daily", "@midnight", "@weekly"}
	return []string{"it is not a macro known here; write " + shape.Enumerate(macros, "or") + shape.DidYouMean(text, macros)}
}

func isSingleNumber(field string, most int) bool {
	n, err := strconv.Atoi(field)
	return err == nil && n <= most && len(field) <= 2 && field[0] >= '0' && field[0] <= '9'
}

func weekdayProblem(field string) string {
	_, err := schedule.ParseWeekdays(field)
	if err == nil {
		return ""
	}
	says := "Karpenter cannot parse it"
	if errors.Is(err, schedule.ErrNoWeekday) {
		says = err.Error()
	}
	instead := "names, numbers from 0 (SUN) to 6 (SAT), lists, or ranges that run forward, such as MON-FRI or SAT,SUN"
	switch suggestion := schedule.SuggestWeekdays(field); suggestion {
	case "":
	case "0":
		instead = "0 or SUN"
	default:
		instead = suggestion
	}
	return fmt.Sprintf("the weekday is %s, and %s; write %s", shape.Quote(field), says, instead)
}

// windowDuration takes a duration in hours and minutes that is longer than nothing.
type windowDuration struct{}

var blockDuration windowDuration

func (windowDuration) Accepts() string {
	return "a duration in hours and minutes, for example 8h, 90m or 8h30m"
}

func (d windowDuration) check(p *Parameter, text string, _ context) (string, []string) {
	if !blockDurationPattern().MatchString(text) || strings.Trim(text, "0hm") == "" {
		return "", []string{fmt.Sprintf("%s must be %s", p.Name, d.Accepts())}
	}
	return text, nil
}

var blockDurationPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9]+h([0-9]+m)?|[0-9]+m)$`)
})

// firingGap returns the least time between two firings of a schedule that windowSchedule takes.
func firingGap(text string) time.Duration {
	switch text {
	case "@hourly":
		return time.Hour
	case "@weekly":
		return 7 * 24 * time.Hour
	}
	if fields := strings.Fields(text); len(fields) == 5 {
		if days, err := schedule.ParseWeekdays(fields[4]); err == nil && days.Len() == 1 {
			return 7 * 24 * time.Hour
		}
	}
	return 24 * time.Hour
}

// checkWindow holds the rules for the two window parameters together.
func checkWindow(t *transition) {
	text, duration := t.after.Value(blockScheduleName), t.after.Value(blockDurationName)
	if (text == "") != (duration == "") {
		t.refuse(blockScheduleName, "%s and %s must be set together, and cleared together", blockScheduleName, blockDurationName)
		return
	}
	if text == "" || t.isWrong(blockDurationName) || t.isWrong(blockScheduleName) {
		return
	}
	gap := firingGap(text)
	// A duration that overflows is longer than any gap.
	length, err := time.ParseDuration(duration)
	if err == nil && length < gap {
		return
	}
	if fields := strings.Fields(text); len(fields) == 5 && fields[4] != "*" && gap == 24*time.Hour {
		t.refuse(blockDurationName, "%s=%s is too long for %q: a window on several weekdays must be under 24h, so at most 23h59m; for longer blocks, `nodepool window` works out the budgets",
			blockDurationName, shape.Shorten(duration), text)
		return
	}
	t.refuse(blockDurationName, "%s=%s reaches the next firing of %q, which would block node replacement for good; it must be under %s, so at most %s",
		blockDurationName, shape.Shorten(duration), text, schedule.FormatDuration(gap), schedule.FormatDuration(gap-time.Minute))
}

// checkWindowAgainstBudgets refuses a window beside a budgets list in karpenter_config, which would replace it.
func checkWindowAgainstBudgets(t *transition) {
	schedule, duration := t.after.Value(blockScheduleName), t.after.Value(blockDurationName)
	if schedule == "" || duration == "" || t.isWrong("karpenter_config") {
		return
	}
	config, err := t.after.KarpenterConfig()
	if err != nil || config.NodePool.Disruption.Budgets == nil {
		return
	}
	window, err := json.Marshal(WindowBudget(shape.Shorten(schedule), shape.Shorten(duration)))
	if err != nil {
		return // it is made of strings
	}
	t.refuse("karpenter_config", "karpenter_config sets nodePool.disruption.budgets, which replaces the generated budgets and with them the window of %s and %s; clear one of the two, or keep both by writing the window into that list yourself: %s",
		blockScheduleName, blockDurationName, window)
}

// BlockWindow is a window in which disruption is blocked, as a budget has it.
type BlockWindow struct{ Schedule, Duration string }

// WhyNoWindow says why the disruption window of the rack cannot be just these windows, blocking the reasons inWindow
// inside them and the reasons never at all times, or returns "" where it can.
func (r Rack) WhyNoWindow(windows []BlockWindow, inWindow, never nodepool.Reasons) string {
	sameReasons := slices.Equal(slices.Sorted(slices.Values(inWindow)), WindowReasons())
	switch {
	case r.Release.Before(WindowRelease):
		return fmt.Sprintf("the rack's release %s has none, they came with %s", r.Release, WindowRelease)
	case len(never) > 0 || !sameReasons:
		return "a rack's window is for Drifted and Underutilized together, and this is not"
	case len(windows) != 1:
		return fmt.Sprintf("it takes %d windows, and a rack has one", len(windows))
	case scheduleProblems(windows[0].Schedule) != nil:
		return "its window opens more than once a day, and a rack's does not"
	}
	if length, err := time.ParseDuration(windows[0].Duration); err != nil || length >= firingGap(windows[0].Schedule) {
		return "a rack's window on several weekdays is shorter than 24h, and this is " + windows[0].Duration
	}
	return ""
}
