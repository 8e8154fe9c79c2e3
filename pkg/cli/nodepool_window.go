package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rackparams/params"
	"rackparams/pkg/nodepool"
	"rackparams/pkg/schedule"
	"rackparams/pkg/shape"
	"rackparams/pkg/store"
	"rackparams/pkg/window"

	"github.com/spf13/cobra"
)

func newNodepoolWindow(a *app) *cobra.Command {
	w := &nodepoolWindow{app: a, zone: zoneFlag{time.UTC}, reasons: reasonsFlag{inWindow: params.WindowReasons()}}
	cmd := &cobra.Command{
		Use: "window (--allow SPEC)... | (--block SPEC)...", Short: "Work out the budgets that allow disruption in some hours only",
		Long: `From the hours in which disruption is allowed, or blocked, to the budgets that make it so. A SPEC is
[DAYS ]HH:MM-HH:MM: DAYS a weekday, a list, a range that may wrap (fri-mon), daily (the default),
weekdays or weekends. A window may cross midnight; 24:00 ends a day.

The windows block the reasons Drifted and Underutilized, as a rack's own window does. --reasons names
others, and with =never such as are not allowed at any time. Reasons that are not named keep the baseline.`,
		Example: `  convox nodepool window --allow "sat 09:00-13:00"
  convox nodepool window --block "weekdays 09:00-17:00" --tz America/New_York
  convox nodepool window --allow "02:00-04:00" -o params
  convox nodepool window --allow "sat 09:00-13:00" --reasons Drifted,Underutilized=never -o budgets`,
		Args: noArguments,
	}
	cmd.Flags().Var(&w.allow, "allow", "allow disruption in these hours only; may be repeated")
	cmd.Flags().Var(&w.block, "block", "block disruption in these hours; may be repeated")
	cmd.Flags().Var(&w.zone, "tz", "the time zone of the hours")
	cmd.Flags().BoolVar(&w.yearRound, "year-round", false, "one list that holds on either side of the changes of the clock")
	cmd.Flags().Var(&w.reasons, "reasons", "the reasons that the windows are for, R or R=never, separated by commas")
	cmd.Flags().StringVar(&w.nodes, "nodes", nodepool.DefaultNodes, "the baseline: how many nodes may be disrupted at once outside the blocks")
	cmd.Flags().Var(&w.from, "from", "the time from which on the windows are wanted, in UTC unless it says otherwise (default now)")
	_ = cmd.RegisterFlagCompletionFunc("tz", completeZones)
	_ = cmd.RegisterFlagCompletionFunc("reasons", cobra.FixedCompletions(nodepool.Newest.Reasons().Strings(), noFiles))
	output := addOutput(cmd, "text", "params", "budgets", "json")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		w.nodesGiven = cmd.Flags().Changed("nodes")
		return w.check()
	}
	cmd.RunE = run(func([]string) error { return w.run(output.value) })
	return cmd
}

type nodepoolWindow struct {
	*app
	allow, block specFlag
	zone         zoneFlag
	yearRound    bool
	reasons      reasonsFlag
	nodes        string
	nodesGiven   bool
	from         timeFlag
}

// specFlag is a flag that takes SPECs; together they are the minutes of a week.
type specFlag struct {
	week  window.Week
	texts []string
}

func (f *specFlag) Type() string   { return "SPEC" }
func (f *specFlag) String() string { return strings.Join(f.texts, ", ") }

// Set takes one more SPEC.
func (f *specFlag) Set(text string) error {
	week, err := window.ParseSpec(text)
	if err != nil {
		return err
	}
	f.week.Add(&week)
	f.texts = append(f.texts, text)
	return nil
}

// reasonsFlag is the flag --reasons; what is given more than once adds up.
type reasonsFlag struct {
	inWindow, never nodepool.Reasons
	given           bool
}

func (f *reasonsFlag) Type() string { return "R,..." }

func (f *reasonsFlag) String() string {
	items := f.inWindow.Strings()
	for _, reason := range f.never {
		items = append(items, string(reason)+"=never")
	}
	return strings.Join(items, ",")
}

// Set takes more reasons.
func (f *reasonsFlag) Set(text string) error {
	if !f.given {
		*f = reasonsFlag{given: true}
	}
	for item := range strings.SplitSeq(text, ",") {
		name, when, hasWhen := strings.Cut(strings.TrimSpace(item), "=")
		reason, err := parseReason(name)
		switch {
		case err != nil:
			return err
		case slices.Contains(f.inWindow, reason) || slices.Contains(f.never, reason):
			return fmt.Errorf("%s is given twice", reason)
		case !hasWhen:
			f.inWindow = append(f.inWindow, reason)
		case when == "never":
			f.never = append(f.never, reason)
		default:
			return fmt.Errorf("write %s for the windows, or %s=never", reason, reason)
		}
	}
	return nil
}

func parseReason(name string) (nodepool.Reason, error) {
	for _, reason := range nodepool.Newest.Reasons() {
		if strings.EqualFold(name, string(reason)) {
			return reason, nil
		}
	}
	names := nodepool.Newest.Reasons().Strings()
	return "", fmt.Errorf("%s is not a reason; write one of %s%s", shape.Quote(name), strings.Join(names, ", "), shape.DidYouMean(name, names))
}

// check checks the flags, and puts the hours into one form: those in which disruption is allowed.
func (w *nodepoolWindow) check() error {
	switch {
	case w.allow.texts == nil && w.block.texts == nil:
		return errors.New(`say when: with --allow or --block, such as --allow "sat 09:00-13:00"`)
	case w.allow.texts != nil && w.block.texts != nil:
		return errors.New("give --allow or --block, not both")
	}
	if problem := nodepool.CheckNodes(w.nodes); problem != "" {
		return fmt.Errorf("--nodes: %s", problem)
	}
	if nodepool.AllowsNothing(w.nodes) {
		return fmt.Errorf("--nodes %s allows nothing at any time; give how many nodes may be disrupted in the windows", w.nodes)
	}
	if w.reasons.inWindow == nil {
		return errors.New("--reasons: name a reason that the windows are for")
	}
	if w.block.texts != nil {
		w.allow.week = w.block.week.Complement()
	}
	w.from.orElse(time.Now().Truncate(time.Second))
	return nil
}

func (w *nodepoolWindow) run(format string) error {
	plan, err := window.Make(window.Request{Allowed: w.allow.week, Zone: w.zone.Location, From: w.from.Time, YearRound: w.yearRound})
	if err != nil {
		return err
	}
	if n := len(w.budgets(plan)); n > nodepool.MaxBudgets {
		return fmt.Errorf("it takes %d budgets, and a NodePool takes %d; ask for fewer or more regular hours", n, nodepool.MaxBudgets)
	}
	switch format {
	case "params":
		return w.params(plan)
	case "budgets":
		return w.yaml(plan)
	case "json":
		return encode(w.Out, "json", w.json(plan))
	}
	return w.text(plan)
}

func (w *nodepoolWindow) budgets(plan *window.Plan) nodepool.Budgets {
	return plan.Budgets(w.nodes, w.reasons.inWindow, w.reasons.never)
}

// rackPlan is how a rack gets a plan.
type rackPlan struct {
	line string // the command, or "" where no rack can have it
	// whyNot says why no rack window says the plan, so that it takes karpenter_config, or why no rack can have it.
	whyNot string
	// refused is why this rack cannot have it, where it cannot.
	refused error
	// replaces is set where no rack is known, so that the line replaces all of its karpenter_config.
	replaces bool
}

// rackPlan finds the command that gives the rack, or any rack where none is named, the plan: as its own window where that
// says it exactly, and else as karpenter_config. What it returns has passed the checks of `rack params set`.
func (w *nodepoolWindow) rackPlan(plan *window.Plan) (rackPlan, error) {
	rack, known, err := w.knownRack()
	if err != nil {
		return rackPlan{}, err
	}
	if known && !w.nodesGiven {
		w.nodes = rack.Value("karpenter_disruption_budget_nodes")
	}
	if reason, known := w.unknownReason(rack.Release.Karpenter()); !known {
		return rackPlan{whyNot: fmt.Sprintf("the Karpenter %s of its release knows no reason %s", rack.Release.Karpenter(), reason)}, nil
	}
	found := rackPlan{whyNot: rack.WhyNoWindow(blockWindows(plan), w.reasons.inWindow, w.reasons.never)}
	var set [][2]string
	if found.whyNot == "" {
		set, err = rack.WindowChange(plan.Entries[0].Schedule(), plan.Entries[0].Duration())
		if w.nodesGiven {
			set = append(set, [2]string{"karpenter_disruption_budget_nodes", w.nodes})
		}
	} else {
		set, err = rack.BudgetsChange(w.budgets(plan))
		found.replaces = !known
	}
	if err != nil {
		return rackPlan{}, err
	}
	change := params.Change{Set: map[string]string{}}
	found.line = w.name + " rack params set"
	for _, pair := range set {
		change.Set[pair[0]] = pair[1]
		found.line += " " + pair[0] + "=" + quoteArgument(pair[1])
	}
	if _, err := rack.Apply(change); err != nil {
		return rackPlan{refused: err}, nil
	}
	if w.rack != "" {
		found.line += " -r " + w.rack
	}
	return found, nil
}

// knownRack is the rack that the command is about, if there is one: the windows can be planned without.
func (w *nodepoolWindow) knownRack() (params.Rack, bool, error) {
	stored, err := w.loadRack()
	if err == nil {
		return stored.Rack, true, nil
	}
	var notFound *store.NotFoundError
	if w.rack != "" || !errors.Is(err, errNoRack) && !errors.As(err, &notFound) {
		return params.Rack{}, false, err
	}
	blank, err := params.NewRack(params.AWS.String(), nil)
	return blank, false, err
}

// unknownReason returns a reason that a version of Karpenter does not know, and whether it knows all.
func (w *nodepoolWindow) unknownReason(v nodepool.Version) (nodepool.Reason, bool) {
	for _, reason := range slices.Concat(w.reasons.inWindow, w.reasons.never) {
		if !slices.Contains(v.Reasons(), reason) {
			return reason, false
		}
	}
	return "", true
}

// quoteArgument quotes a value for a shell, in double quotes where they do, as people write them.
func quoteArgument(value string) string {
	if quoted := quoteForShell(value); quoted == value || strings.ContainsAny(value, "\"$`\\!'") {
		return quoted
	}
	return `"` + value + `"`
}

// blockWindows are the windows of a plan, as a rack has them.
func blockWindows(plan *window.Plan) []params.BlockWindow {
	windows := make([]params.BlockWindow, len(plan.Entries))
	for i, entry := range plan.Entries {
		windows[i] = params.BlockWindow{Schedule: entry.Schedule(), Duration: entry.Duration()}
	}
	return windows
}

const (
	configReach   = "karpenter_config reaches the workload pool only: the build pool and the custom pools keep their budgets, without these windows"
	configReplace = "the line replaces all of karpenter_config; with -r RACK it keeps what else that says"
)

func (w *nodepoolWindow) params(plan *window.Plan) error {
	found, err := w.rackPlan(plan)
	if err != nil {
		return err
	}
	if found.refused != nil {
		return found.refused
	}
	if found.line == "" {
		return errors.New("no rack can have these windows: " + found.whyNot)
	}
	if found.whyNot != "" {
		w.notice("no rack window says it: %s", found.whyNot)
		w.warn(configReach)
	}
	if found.replaces {
		w.warn(configReplace)
	}
	w.warnOfChange(plan)
	_, err = fmt.Fprintln(w.Out, found.line)
	return err
}

// warnOfChange says until when a plan holds that is printed alone.
func (w *nodepoolWindow) warnOfChange(plan *window.Plan) {
	if plan.Change != nil {
		w.warn(fmt.Sprintf("this holds until %s, when the clock of %s changes; do it again then, or see --year-round", plan.Change.At.UTC().Format(time.RFC3339), w.zone.Location))
	}
	if plan.GivenUp > 0 {
		w.notice("it gives up %s of the %s wanted each week, which are not allowed on both sides of a change of the clock", minutesText(plan.GivenUp), minutesText(w.allow.week.Len()))
	}
}

func (w *nodepoolWindow) yaml(plan *window.Plan) error {
	w.warnOfChange(plan)
	return encode(w.Out, "yaml", w.budgets(plan))
}

func (w *nodepoolWindow) json(plan *window.Plan) map[string]any {
	all := map[string]any{
		"zone": w.zone.String(), "allowed": spanTexts(&w.allow.week), "yearRound": w.yearRound, "givenUpMinutes": plan.GivenUp,
		"from": formatTime(&w.from.Time), "now": w.planJSON(plan), "nextChange": nil, "then": nil, "rackWindow": nil, "whyNoRackWindow": nil,
	}
	newest := params.Rack{Provider: params.AWS, Release: params.NewestRelease}
	if whyNot := newest.WhyNoWindow(blockWindows(plan), w.reasons.inWindow, w.reasons.never); whyNot != "" {
		all["whyNoRackWindow"] = whyNot
	} else {
		all["rackWindow"] = map[string]any{"schedule": plan.Entries[0].Schedule(), "duration": plan.Entries[0].Duration()}
	}
	if plan.Change != nil {
		all["nextChange"] = map[string]any{
			"at": formatTime(&plan.Change.At), "local": plan.Change.At.In(w.zone.Location).Format(time.RFC3339),
			"offsetBeforeMinutes": plan.Change.Before, "offsetAfterMinutes": plan.Change.After,
		}
		all["then"] = w.planJSON(plan.Then)
	}
	return all
}

func (w *nodepoolWindow) planJSON(plan *window.Plan) map[string]any {
	windows := []any{}
	for _, entry := range plan.Entries {
		windows = append(windows, map[string]any{"schedule": entry.Schedule(), "duration": entry.Duration()})
	}
	return map[string]any{"windows": windows, "budgets": w.budgets(plan)}
}

// text says it for a person.
func (w *nodepoolWindow) text(plan *window.Plan) error {
	found, err := w.rackPlan(plan)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Disruption for %s is wanted\n", shape.Enumerate(w.reasons.inWindow.Strings(), "and"))
	for _, text := range spanTexts(&w.allow.week) {
		fmt.Fprintf(&b, "  %s  %s\n", text, w.zone.Location)
	}
	b.WriteString("and at no other time")
	if len(w.reasons.never) > 0 {
		fmt.Fprintf(&b, "; for %s never", shape.Enumerate(w.reasons.never.Strings(), "and"))
	}
	b.WriteString(". Other reasons keep the baseline of " + w.nodes + ".\n\n")
	w.textOfTime(&b, plan)
	switch {
	case found.refused != nil:
		b.WriteString("\nThis rack cannot have it:\n\n")
		for line := range strings.Lines(found.refused.Error()) {
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	case found.line == "":
		fmt.Fprintf(&b, "\nNo rack can have it: %s.\n", found.whyNot)
	case found.whyNot == "":
		fmt.Fprintf(&b, "\nOne rack window says it, on every pool:\n\n  %s\n", found.line)
		if w.nodesGiven {
			b.WriteString("\nThe baseline is the workload pool's; the build pool and the custom pools have their own.\n")
		}
	default:
		fmt.Fprintf(&b, "\nNo rack window says it: %s. As karpenter_config, which reaches the\nworkload pool only, and neither the build pool nor custom pools:\n\n  %s\n", found.whyNot, found.line)
	}
	if found.replaces {
		b.WriteString("\nThat replaces all of karpenter_config; with -r RACK the line keeps what else it says.\n")
	}
	_, err = io.WriteString(w.Out, b.String())
	return err
}

// textOfTime writes the windows, and what the changes of the clock do to them.
func (w *nodepoolWindow) textOfTime(b *strings.Builder, plan *window.Plan) {
	switch {
	case w.yearRound && plan.GivenUp > 0:
		fmt.Fprintf(b, "Blocked all year round (UTC), which gives up %s of the %s wanted each week:\n\n", minutesText(plan.GivenUp), minutesText(w.allow.week.Len()))
	case w.yearRound:
		b.WriteString("Blocked all year round (UTC):\n\n")
	case plan.Change == nil:
		b.WriteString("Blocked (UTC):\n\n")
	default:
		fmt.Fprintf(b, "Blocked until %s (UTC):\n\n", plan.Change.At.UTC().Format("2006-01-02 15:04"))
	}
	writeWindows(b, plan)
	if w.yearRound {
		allowed := plan.Blocked.Complement()
		b.WriteString("\nAllowed, whichever clock holds (UTC):\n\n")
		for _, text := range spanTexts(&allowed) {
			fmt.Fprintf(b, "  %s\n", text)
		}
	}
	if plan.Change == nil {
		return
	}
	change := plan.Change
	fmt.Fprintf(b, "\nThe clock of %s changes on %s from %s to %s, at %s UTC.\nBlocked from then on (UTC):\n\n", w.zone.Location,
		change.At.In(w.zone.Location).Format("Mon 2006-01-02"), clockText(change.At, change.Before), clockText(change.At, change.After), change.At.UTC().Format("2006-01-02 15:04"))
	writeWindows(b, plan.Then)
	b.WriteString("\nIn the week of the change: set the new windows at that moment, and each hour is where it is wanted")
	if minutes := change.Affected(&w.allow.week); minutes > 0 {
		effect := "are left out, as the clock leaves them out"
		if change.After < change.Before {
			effect = "come twice, as the clock goes over them twice"
		}
		fmt.Fprintf(b, ",\nbut that %s of them %s", minutesText(minutes), effect)
	}
	old := plan.Blocked.Shift(change.After)
	kept := old.Complement()
	b.WriteString(".\nIf they are set later, the old ones meanwhile allow, by the new clock,\n")
	for _, text := range spanTexts(&kept) {
		fmt.Fprintf(b, "  %s  %s\n", text, w.zone.Location)
	}
}

// clockText is the time on the wall at an instant, with an offset from UTC.
func clockText(at time.Time, offset int) string {
	sign, minutes := "+", offset
	if offset < 0 {
		sign, minutes = "-", -offset
	}
	return fmt.Sprintf("%s (UTC%s%02d:%02d)", at.UTC().Add(time.Duration(offset)*time.Minute).Format("15:04"), sign, minutes/60, minutes%60)
}

func writeWindows(b *strings.Builder, plan *window.Plan) {
	rows := [][]string{}
	for _, entry := range plan.Entries {
		rows = append(rows, []string{"  " + entry.Schedule(), "for " + entry.Duration()})
	}
	_ = table(b, rows)
}

// spanTexts writes a set of minutes of the week in words, most of them SPECs: one for all days with the same hours.
func spanTexts(week *window.Week) []string {
	texts := []string{}
	for _, entry := range week.Entries() {
		days := strings.ToLower(entry.Days.String())
		if days == "*" {
			days = "daily"
		}
		for _, hour := range entry.Hours {
			from, length := hour*60+entry.Minute, int(entry.Length.Minutes())
			to := from + length
			switch {
			case length < 24*60 && to > 24*60:
				to -= 24 * 60
				fallthrough
			case to <= 24*60:
				texts = append(texts, fmt.Sprintf("%s %s-%s", days, clock(from), clock(to)))
			case entry.Days.Len() == 1:
				texts = append(texts, fmt.Sprintf("%s %s to %s %s", days, clock(from), dayAfter(entry.Days, to), clock(to%(24*60))))
			default:
				texts = append(texts, fmt.Sprintf("%s %s and the %s after", days, clock(from), entry.Duration()))
			}
		}
	}
	return texts
}

// clock writes a minute of a day.
func clock(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// dayAfter names the day a number of minutes after the midnight of the one day of a set.
func dayAfter(days schedule.Weekdays, minutes int) string {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if days.Has(day) {
			return strings.ToLower(schedule.DayName((day + time.Weekday(minutes/(24*60))) % 7))
		}
	}
	return ""
}

// minutesText writes a number of minutes for a person.
func minutesText(minutes int) string {
	hours, rest := minutes/60, minutes%60
	switch {
	case hours == 0:
		return plural(rest, "minute")
	case rest == 0:
		return plural(hours, "hour")
	}
	return plural(hours, "hour") + " and " + plural(rest, "minute")
}
