package conformance

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/window"

	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// plannedZones are time zones with every way in which a clock changes: by an hour on either half of the earth, by half an
// hour, round Ramadan, with the winter as the change (Dublin), at other than whole hours from UTC, and not at all.
var plannedZones = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Santiago", "America/Phoenix", "Australia/Lord_Howe", "Australia/Adelaide",
	"Pacific/Auckland", "Pacific/Chatham", "Pacific/Apia", "Pacific/Kiritimati", "Pacific/Marquesas", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Tehran", "Asia/Gaza", "Africa/Casablanca",
	"Africa/Cairo", "Antarctica/Troll",
}

// hours are hours on some days of the week, by the clock of a place: what a SPEC says.
type hours struct {
	days     []time.Weekday
	from, to int // minutes of the day; to is over midnight where it is not after from
}

// anyHours returns hours, and how a SPEC says them.
func anyHours(r *rand.Rand) (hours, string) {
	step := oneOf(r, 1, 15, 30, 60)
	h := hours{from: r.IntN(24*60/step) * step, to: (1 + r.IntN(24*60/step)) * step}
	if h.from == h.to || chance(r, 0.05) {
		h.from, h.to = 0, 24*60
	}
	words := ""
	switch first, last := time.Weekday(r.IntN(7)), time.Weekday(r.IntN(7)); r.IntN(6) {
	case 0:
		h.days = daysFrom(time.Sunday, time.Saturday)
		words = oneOf(r, "", "daily ", "DAILY ")
	case 1:
		h.days, words = daysFrom(time.Monday, time.Friday), "weekdays "
	case 2:
		h.days, words = daysFrom(time.Saturday, time.Sunday), "weekends "
	case 3:
		h.days, words = daysFrom(first, last), fmt.Sprintf("%s-%s ", dayWord(r, first), dayWord(r, last))
	case 4:
		h.days, words = []time.Weekday{first, last}, fmt.Sprintf("%s,%s ", dayWord(r, first), dayWord(r, last))
	default:
		h.days, words = []time.Weekday{first}, dayWord(r, first)+" "
	}
	return h, fmt.Sprintf("%s%02d:%02d-%02d:%02d", words, h.from/60, h.from%60, h.to/60, h.to%60)
}

// daysFrom are the days from one to another, over the end of the week if need be.
func daysFrom(first, last time.Weekday) []time.Weekday {
	days := []time.Weekday{first}
	for day := first; day != last; {
		day = (day + 1) % 7
		days = append(days, day)
	}
	return days
}

func dayWord(r *rand.Rand, day time.Weekday) string {
	return oneOf(r, strings.ToLower(day.String()[:3]), day.String(), strings.ToUpper(day.String()[:3]))
}

// hold reports whether a time, by its own clock, is in the hours.
func (h hours) hold(at time.Time) bool {
	minute, day := at.Hour()*60+at.Minute(), at.Weekday()
	if h.from < h.to {
		return slices.Contains(h.days, day) && h.from <= minute && minute < h.to
	}
	return slices.Contains(h.days, day) && h.from <= minute || slices.Contains(h.days, (day+6)%7) && minute < h.to
}

// wish is when someone wants disruption, and all that goes with it.
type wish struct {
	hours     []hours
	specs     []string
	block     bool
	zone      *time.Location
	from      time.Time
	yearRound bool
	inWindow  []nodepool.Reason
	never     []nodepool.Reason
}

func anyWish(r *rand.Rand) (wish, error) {
	zone, err := window.LoadZone(oneOf(r, plannedZones...))
	w := wish{block: chance(r, 0.5), zone: zone, yearRound: chance(r, 0.4)}
	w.from = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.Int64N(int64(2 * 365 * 24 * time.Hour)))).Truncate(time.Second)
	for range oneOf(r, 1, 1, 1, 2, 3) {
		h, spec := anyHours(r)
		w.hours, w.specs = append(w.hours, h), append(w.specs, spec)
	}
	w.inWindow = []nodepool.Reason{nodepool.Drifted, nodepool.Underutilized}
	if chance(r, 0.3) {
		w.inWindow = []nodepool.Reason{nodepool.Drifted}
		w.never = some(r, 1, 3, nodepool.Empty, nodepool.Underutilized, nodepool.Unhealthy)
	}
	return w, err
}

func (w wish) String() string {
	verb := map[bool]string{true: "block", false: "allow"}[w.block]
	return fmt.Sprintf("--%s %q --tz %s --from %s, year round %t, in the window %s, never %s", verb, w.specs, w.zone, w.from.Format(time.RFC3339), w.yearRound, w.inWindow, w.never)
}

// wants reports whether disruption is wanted at a time.
func (w wish) wants(at time.Time) bool {
	local := at.In(w.zone)
	return w.block != slices.ContainsFunc(w.hours, func(h hours) bool { return h.hold(local) })
}

// minutes is how many minutes of a week are wanted. Every minute of a week is one in UTC.
func (w wish) minutes() int {
	w.zone = time.UTC
	n := 0
	for at := w.from; at.Before(w.from.Add(week)); at = at.Add(time.Minute) {
		if w.wants(at) {
			n++
		}
	}
	return n
}

func (w wish) plan() (*window.Plan, error) {
	var allowed window.Week
	for _, spec := range w.specs {
		parsed, err := window.ParseSpec(spec)
		if err != nil {
			return nil, err
		}
		allowed.Add(&parsed)
	}
	if w.block {
		allowed = allowed.Complement()
	}
	return window.Make(window.Request{Allowed: allowed, Zone: w.zone, From: w.from, YearRound: w.yearRound})
}

// planned is the list of a plan, as Karpenter has it.
type planned struct{ *karpenterv1.NodePool }

// baseline is the count that the lists allow outside the windows.
const baseline = 7

func (w wish) planned(plan *window.Plan) (planned, error) {
	decoded, err := karpenterBudgets(plan.Budgets(fmt.Sprint(baseline), w.inWindow, w.never))
	return planned{poolOf(decoded)}, err
}

// allows reports whether Karpenter may drift a node. It is the baseline or nothing.
func (p planned) allows(at time.Time, reason nodepool.Reason) (bool, error) {
	number, err := p.GetAllowedDisruptionsByReason(clockAt(at), 1000, karpenterv1.DisruptionReason(reason))
	if err == nil && number != 0 && number != baseline {
		err = fmt.Errorf("at %s %d nodes are allowed for %s, which is neither 0 nor the baseline", at, number, reason)
	}
	return number > 0, err
}

// TestPlans shows that the budgets of a plan let Karpenter drift nodes in just the minutes asked for, by the clock of the
// place: those for now up to the next change of that clock, and those for then from there on. Year-round ones let it in
// none of the others, at any time, and say how many of the minutes they give up.
func TestPlans(t *testing.T) {
	var seen tally
	forEachCase(t, 2500, func(r *rand.Rand) error {
		wish, err := anyWish(r)
		if err == nil {
			err = wish.check(r, &seen)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", wish, err)
		}
		return nil
	})
	t.Logf("with a change %d, without %d, year round %d, refused %d; %d instants", seen.of("change"), seen.of("no change"), seen.of("year round"), seen.of("refused"), seen.of("instants"))
	seen.requireAll(t, []string{"change", "no change", "year round", "refused", "given up", "each minute"})
}

func (w wish) check(r *rand.Rand, seen *tally) error {
	plan, err := w.plan()
	if err != nil {
		seen.add("refused")
		return w.checkRefusal(err)
	}
	now, err := w.planned(plan)
	if err != nil {
		return err
	}
	years := w.from.AddDate(2, 0, 0)
	if err := w.checkReasons(now, r, years); err != nil {
		return err
	}
	if w.yearRound {
		seen.add("year round")
		return w.checkYearRound(plan, now, r, years, seen)
	}
	if plan.Change == nil {
		seen.add("no change")
		return w.checkExact(now, r, w.from, years, seen)
	}
	seen.add("change")
	then, err := w.planned(plan.Then)
	if err != nil {
		return err
	}
	change := plan.Change.At
	following := change.AddDate(2, 0, 0)
	if next, found := window.NextChange(w.zone, change); found {
		following = next.At
	}
	return errors.Join(w.checkClock(plan.Change), w.checkExact(now, r, w.from, change, seen), w.checkExact(then, r, change, following, seen))
}

// checkClock says where a change is none, or the clock changes before.
func (w wish) checkClock(change *window.Change) error {
	offset := func(at time.Time) int {
		_, seconds := at.In(w.zone).Zone()
		return seconds / 60
	}
	if before, after := offset(change.At.Add(-time.Nanosecond)), offset(change.At); before != change.Before || after != change.After || before == after {
		return fmt.Errorf("at %s the clock goes from %d to %d minutes, and not from %d to %d", change.At, before, after, change.Before, change.After)
	}
	for at := w.from; at.Before(change.At); at = at.Add(6 * time.Hour) {
		if offset(at) != change.Before {
			return fmt.Errorf("the clock is at %d minutes at %s, before its change at %s", offset(at), at, change.At)
		}
	}
	return nil
}

// checkExact says where, in [from, to), Karpenter may drift nodes though it is not wanted, or may not though it is: at
// each end of the wanted hours in some weeks, and now and then at each minute of one.
func (w wish) checkExact(p planned, r *rand.Rand, from, to time.Time, seen *tally) error {
	times := inside(r, from, to, 100)
	for range 3 {
		start := from.Add(time.Duration(r.Int64N(int64(to.Sub(from))))).Truncate(time.Minute)
		wanted := w.wants(start)
		for at := start; at.Before(start.Add(24 * time.Hour)); at = at.Add(time.Minute) {
			if next := w.wants(at); next != wanted || chance(r, 0.003) {
				wanted = next
				times = append(times, at.Add(-time.Nanosecond), at.Add(-time.Second), at, at.Add(time.Second))
			}
		}
	}
	if chance(r, 0.02) {
		start := from.Truncate(time.Minute)
		for at := start; at.Before(start.Add(week)); at = at.Add(time.Minute) {
			times = append(times, at)
		}
	}
	for _, at := range times {
		if at.Before(from) || !at.Before(to) {
			continue
		}
		seen.add("instants")
		allowed, err := p.allows(at, nodepool.Drifted)
		if err != nil {
			return err
		}
		if wanted := w.wants(at); allowed != wanted {
			return fmt.Errorf("at %s, which is %s, it is wanted: %t, and Karpenter allows it: %t", at.Format(time.RFC3339Nano), at.In(w.zone).Format("Mon 15:04:05 -0700"), wanted, allowed)
		}
	}
	return nil
}

// checkYearRound says where Karpenter may drift nodes though it is not wanted, over two years; which minutes of a week it
// may not, though they are wanted whatever the clock says; and whether they are as many as the plan says.
func (w wish) checkYearRound(plan *window.Plan, p planned, r *rand.Rand, years time.Time, seen *tally) error {
	if plan.Change != nil || plan.Then != nil {
		return errors.New("it is for the whole year, and has a change")
	}
	allowed := make([]bool, int(week/time.Minute))
	start, kept := w.from.Truncate(time.Minute), 0
	if chance(r, 0.1) {
		for i := range allowed {
			var err error
			if allowed[i], err = p.allows(start.Add(time.Duration(i)*time.Minute), nodepool.Drifted); err != nil {
				return err
			}
			if allowed[i] {
				kept++
			}
		}
		if given := w.minutes() - kept; given != plan.GivenUp {
			return fmt.Errorf("it says that it gives up %d minutes, and by Karpenter's answers it does %d", plan.GivenUp, given)
		}
		if plan.GivenUp > 0 {
			seen.add("given up")
		}
		if err := w.checkNeeded(allowed, start); err != nil {
			return err
		}
		if chance(r, 0.2) {
			seen.add("each minute")
			if err := w.checkEachMinute(allowed, start, years); err != nil {
				return err
			}
		}
	}
	// Minutes next to the ends of the wanted hours, in weeks of both halves of the year, those of the changes among them.
	at := w.from
	var times []time.Time
	for change, found := window.NextChange(w.zone, at); found && change.At.Before(years); change, found = window.NextChange(w.zone, change.At) {
		times = append(times, inside(r, change.At.Add(-26*time.Hour), change.At.Add(26*time.Hour), 30)...)
	}
	for _, at := range append(times, inside(r, w.from, years, 300)...) {
		seen.add("instants")
		allowed, err := p.allows(at, nodepool.Drifted)
		if err != nil {
			return err
		}
		if allowed && !w.wants(at) {
			return fmt.Errorf("at %s, which is %s, it is not wanted, and Karpenter allows it", at.Format(time.RFC3339), at.In(w.zone).Format("Mon 15:04 -0700"))
		}
	}
	return nil
}

// checkEachMinute says in which minute of two years disruption is allowed though it is not wanted. The schedules of a plan
// name no day of a month, so Karpenter's answers for a week are those for each.
func (w wish) checkEachMinute(allowed []bool, start, years time.Time) error {
	for i, at := 0, start; at.Before(years); i, at = i+1, at.Add(time.Minute) {
		if allowed[i%len(allowed)] && !w.wants(at) {
			return fmt.Errorf("at %s, which is %s, it is not wanted, and Karpenter allows it", at.Format(time.RFC3339), at.In(w.zone).Format("Mon 15:04 -0700"))
		}
	}
	return nil
}

// checkNeeded says which minute of a week a year-round plan gives up though it is wanted by each of the clocks that the zone has
// in ten years.
func (w wish) checkNeeded(allowed []bool, start time.Time) error {
	always := slices.Repeat([]bool{true}, len(allowed))
	clocks := map[int]bool{}
	for day := range 10 * 365 {
		_, offset := start.AddDate(0, 0, day).In(w.zone).Zone()
		if clocks[offset] {
			continue
		}
		clocks[offset] = true
		fixed := w
		fixed.zone = time.FixedZone("", offset)
		for i := range always {
			always[i] = always[i] && fixed.wants(start.Add(time.Duration(i)*time.Minute))
		}
	}
	for i := range allowed {
		if always[i] && !allowed[i] {
			return fmt.Errorf("%s is given up, and it is wanted whatever the clock says", start.Add(time.Duration(i)*time.Minute).Format("Mon 15:04 UTC"))
		}
	}
	return nil
}

// checkReasons says where a plan stops Empty though nothing says so, or lets a reason through that it never may.
func (w wish) checkReasons(p planned, r *rand.Rand, years time.Time) error {
	for _, at := range inside(r, w.from, years, 20) {
		for _, reason := range w.never {
			if allowed, err := p.allows(at, reason); allowed || err != nil {
				return errors.Join(err, fmt.Errorf("at %s %s is allowed, and it never may", at, reason))
			}
		}
		if allowed, err := p.allows(at, nodepool.Empty); err != nil || !allowed && !slices.Contains(w.never, nodepool.Empty) {
			return errors.Join(err, fmt.Errorf("at %s Empty is blocked", at))
		}
	}
	return nil
}

// checkRefusal says where a plan is refused for a reason that is none.
func (w wish) checkRefusal(err error) error {
	minutes := w.minutes()
	switch {
	case errors.Is(err, window.ErrNothingAllowed) && minutes == 0, errors.Is(err, window.ErrNothingBlocked) && minutes == int(week/time.Minute):
		return nil
	case errors.Is(err, window.ErrNothingLeft) && w.yearRound:
		if need := w.checkNeeded(make([]bool, int(week/time.Minute)), w.from.Truncate(time.Minute)); need != nil {
			return fmt.Errorf("%w; but %w", err, need)
		}
		return nil
	}
	return fmt.Errorf("with %d minutes of %.0f wanted it is refused: %w", minutes, math.Round(week.Minutes()), err)
}
