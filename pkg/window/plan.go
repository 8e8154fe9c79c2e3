package window

import (
	"errors"
	"time"

	"rackparams/pkg/nodepool"
)

// Request is what someone wants.
type Request struct {
	// Allowed are the minutes of the week, by the clock of Zone, in which disruption may happen.
	Allowed Week
	Zone    *time.Location
	// From is the time from which on it is wanted.
	From time.Time
	// YearRound asks for one list that holds on either side of the changes of the clock.
	YearRound bool
}

// The requests that no budgets make so.
var (
	ErrNothingAllowed = errors.New("the windows leave no time in which disruption is allowed; a budget of nodes: \"0\" for these reasons, without a schedule, says that")
	ErrNothingBlocked = errors.New("disruption is allowed for the whole week, so that there is nothing to block and no window to set")
	ErrNothingLeft    = errors.New("the clock changes by as much as the windows last, or more, so that no time is allowed on both sides of a change; ask for longer windows, or change the budgets with the clock")
)

// Plan is how a request is met.
type Plan struct {
	// Blocked are the minutes of the week in UTC in which disruption is blocked, and Entries the windows that do it.
	Blocked Week
	Entries []Entry
	// GivenUp is how many minutes a week of those allowed are blocked all the same, for the sake of YearRound.
	GivenUp int
	// Change is the next change of the clock, and Then the plan from there on. Both are nil where the clock does not change,
	// and for YearRound, which does not care.
	Change *Change
	Then   *Plan
}

// Make works out the plan.
func Make(r Request) (*Plan, error) {
	switch r.Allowed.Len() {
	case 0:
		return nil, ErrNothingAllowed
	case minutesPerWeek:
		return nil, ErrNothingBlocked
	}
	if r.YearRound {
		return yearRound(r)
	}
	plan := at(&r.Allowed, offset(r.From.In(r.Zone)))
	if change, found := NextChange(r.Zone, r.From); found {
		plan.Change = &change
		plan.Then = at(&r.Allowed, change.After)
	}
	return plan, nil
}

// at is the plan while the clock is a number of minutes ahead of UTC.
func at(allowed *Week, offset int) *Plan {
	utc := allowed.Shift(-offset)
	return planOf(utc)
}

func planOf(allowedUTC Week) *Plan {
	plan := &Plan{Blocked: allowedUTC.Complement()}
	plan.Entries = plan.Blocked.Entries()
	return plan
}

// yearRound allows just the minutes of UTC that are allowed whichever offset holds. At each instant one of them does, on
// the day of a change too; so what is left is never outside.
func yearRound(r Request) (*Plan, error) {
	utc := (&Week{}).Complement()
	for _, offset := range Offsets(r.Zone, r.From) {
		shifted := r.Allowed.Shift(-offset)
		utc.Keep(&shifted)
	}
	if utc.Len() == 0 {
		return nil, ErrNothingLeft
	}
	plan := planOf(utc)
	plan.GivenUp = r.Allowed.Len() - utc.Len()
	return plan, nil
}

// Budgets returns the budgets of a plan: the baseline, a block for the reasons that are never allowed, and the windows for
// the others. A pool takes as many as nodepool.MaxBudgets.
func (p *Plan) Budgets(baseline string, inWindow, never []nodepool.Reason) nodepool.Budgets {
	budgets := nodepool.Budgets{{Nodes: baseline}}
	if len(never) > 0 {
		budgets = append(budgets, nodepool.Budget{Nodes: "0", Reasons: never})
	}
	for _, entry := range p.Entries {
		budgets = append(budgets, nodepool.Budget{Nodes: "0", Reasons: inWindow, Schedule: entry.Schedule(), Duration: entry.Duration()})
	}
	return budgets
}
