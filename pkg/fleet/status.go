package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/schedule"
)

// Pool is how one pool stands: what the cluster has of it, beside what is rendered for it.
type Pool struct {
	Name string
	// Live is the NodePool of the cluster, or nil where it has none of the name.
	Live *nodepool.Manifest
	// Rendered is the NodePool that the rack renders, or nil where it renders none of the name.
	Rendered *nodepool.NodePool
	State    nodepool.State
	Claims   []*NodeClaim
}

// Status puts the pools of the cluster beside those that a rack renders. They are in the order of the rack, then by name.
func (f *Fleet) Status(rendered []nodepool.NodePool) []Pool {
	states := f.states()
	claims := map[string][]*NodeClaim{}
	for _, claim := range f.Claims {
		claims[claim.pool()] = append(claims[claim.pool()], claim)
	}
	live := map[string]*nodepool.Manifest{}
	for _, manifest := range f.Pools {
		live[manifest.Name] = manifest
	}
	pool := func(name string) Pool {
		return Pool{Name: name, Live: live[name], State: states[name], Claims: claims[name]}
	}
	var pools []Pool
	for i := range rendered {
		p := pool(rendered[i].Metadata.Name)
		p.Rendered = &rendered[i]
		pools = append(pools, p)
		delete(live, p.Name)
	}
	others := len(pools)
	for name := range live {
		pools = append(pools, pool(name))
	}
	slices.SortFunc(pools[others:], func(a, b Pool) int { return strings.Compare(a.Name, b.Name) })
	return pools
}

// AsRendered reports whether the live budgets are those that the rack renders.
func (p Pool) AsRendered() bool {
	if p.Live == nil || p.Rendered == nil {
		return false
	}
	budgets, refused := p.Live.Budgets()
	return len(refused) == 0 && nodepool.Effective(budgets).Same(nodepool.Effective(p.Rendered.Spec.Disruption.Budgets))
}

// Window is a window of a budget that is open or comes, and how many NodeClaims expire inside it from now on.
type Window struct {
	// Budget is the place of the budget in the list.
	Budget int
	schedule.Span
	Expiring int
}

// maxWindows is how many windows of a budget are looked at: more than a week of @hourly has.
const maxWindows = 200

// Windows returns the windows of the live budgets that are open now or open within a time, whole, by their budgets.
func (p Pool) Windows(evaluator *nodepool.Evaluator, now time.Time, within time.Duration) []Window {
	var windows []Window
	for i := range evaluator.Len() {
		spans := evaluator.Windows(i, now, now.Add(within))
		for _, span := range spans[:min(len(spans), maxWindows)] {
			expiring := p.Expiring(span, now)
			// Told whole, also where it has begun already or ends later.
			if whole := evaluator.Status(i, span.From, p.State.Nodes); whole.HasWindow {
				span = whole.Window
			}
			windows = append(windows, Window{i, span, expiring})
		}
	}
	return windows
}

// Goal is what one can wait for.
type Goal string

// The goals: that the live budgets are those that the rack renders, and that every NodeClaim has the wanted expiry.
const (
	Armed  Goal = "armed"
	Rolled Goal = "rolled"
)

// ErrNoPool says that the rack renders a pool that the cluster does not have.
var ErrNoPool = errors.New("the cluster has no NodePool of this name")

// Missing says what is missing of a goal, or returns "".
func (p Pool) Missing(goal Goal) string {
	switch roll := p.Roll(); {
	case p.Rendered != nil && p.Live == nil:
		return ErrNoPool.Error()
	case goal == Armed && p.Rendered != nil && !p.AsRendered():
		return "the live budgets are not those that the rack renders"
	case goal == Rolled && p.Live != nil && !nodepool.SameDuration(p.Live.ExpireAfter(), roll.Want):
		return fmt.Sprintf("the NodePool has expireAfter %s and not %s, so that new nodes have it too", p.Live.ExpireAfter(), roll.Want)
	case goal == Rolled && roll.Done < roll.Total:
		return fmt.Sprintf("%d of %d NodeClaims have expireAfter %s", roll.Done, roll.Total, roll.Want)
	}
	return ""
}

// Roll is how far the nodes of a pool have been replaced by ones of the wanted expiry.
type Roll struct {
	Want        string
	Done, Total int
}

// Roll counts the NodeClaims whose lifetime is the wanted one: the rack's for the pool, else the NodePool's own. A lifetime
// is copied to a NodeClaim when it is made and stays, so that only new ones have another.
func (p Pool) Roll() Roll {
	roll := Roll{Total: len(p.Claims)}
	switch {
	case p.Rendered != nil:
		roll.Want = cmp.Or(p.Rendered.Spec.Template.Spec.ExpireAfter, nodepool.DefaultExpiry)
	case p.Live != nil:
		roll.Want = p.Live.ExpireAfter()
	}
	for _, claim := range p.Claims {
		if nodepool.SameDuration(claim.expireAfter(), roll.Want) {
			roll.Done++
		}
	}
	return roll
}

// Expiring counts the NodeClaims of the pool that expire in a span of time, from now on. What has expired does now.
func (p Pool) Expiring(span schedule.Span, now time.Time) int {
	n := 0
	for _, claim := range p.Claims {
		at, expires := claim.Expires()
		if at.Before(now) {
			at = now
		}
		if expires && !at.Before(span.From) && at.Before(span.To) {
			n++
		}
	}
	return n
}

// ExpiringWithin counts the NodeClaims whose lifetime has ended, or ends within a time from now on.
func (p Pool) ExpiringWithin(now time.Time, d time.Duration) int {
	n := 0
	for _, claim := range p.Claims {
		if at, expires := claim.Expires(); expires && !at.After(now.Add(d)) {
			n++
		}
	}
	return n
}

// StillExpire counts the NodeClaims that have a lifetime at all.
func (p Pool) StillExpire() int {
	n := 0
	for _, claim := range p.Claims {
		if _, expires := claim.Expires(); expires {
			n++
		}
	}
	return n
}
