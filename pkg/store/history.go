package store

import (
	"crypto/rand"
	"maps"
	"net/url"
	"slices"
	"time"

	"rackparams/params"
	"rackparams/pkg/shape"
)

// Entry is one change of a rack.
type Entry struct {
	ID      string    `json:"id"`
	When    time.Time `json:"when"`
	Who     string    `json:"who"`
	Action  Action    `json:"action"`
	Changes []Change  `json:"changes"`
}

// Action is what was done to a rack.
type Action string

// The actions.
const (
	ActionCreate Action = "create"
	ActionSet    Action = "set"
	ActionUnset  Action = "unset"
)

// Change is what became of one parameter.
type Change struct {
	Name string `json:"name"`
	// From and To are the values before and after, nil where none was stored. Long ones are shortened.
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
	// Hidden is set where the values are not recorded because they are secret, or may be.
	Hidden bool `json:"hidden,omitempty"`
}

// newEntry is the entry of a change from old values to new ones, made now. A rack that is created has no old ones.
func newEntry(who string, old, new map[string]string) Entry {
	entry := Entry{ID: rand.Text()[:12], When: time.Now().UTC().Truncate(time.Millisecond), Who: who, Action: ActionUnset, Changes: []Change{}}
	for _, name := range changed(old, new) {
		if _, set := new[name]; set {
			entry.Action = ActionSet
		}
		change := Change{Name: name, Hidden: params.MayBeSecret(name)}
		if !change.Hidden {
			change.From, change.To = shown(name, old), shown(name, new)
		}
		entry.Changes = append(entry.Changes, change)
	}
	if old == nil {
		entry.Action = ActionCreate
	}
	return entry
}

// shown is the value of a name as a person reads it, or nil where none is stored.
func shown(name string, values map[string]string) *string {
	value, found := values[name]
	if !found {
		return nil
	}
	if p := params.Find(name); p != nil {
		value = p.Show(value)
	}
	value = shape.Shorten(withoutCredentials(value))
	return &value
}

// withoutCredentials leaves out of a URL what gives access: a user's password, and the query, which may be a signature.
func withoutCredentials(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" {
		return value
	}
	if u.RawQuery != "" {
		u.RawQuery = "..."
	}
	return u.Redacted()
}

// changed returns the sorted names whose values differ.
func changed(old, new map[string]string) []string {
	names := map[string]bool{}
	for _, values := range []map[string]string{old, new} {
		for name := range values {
			before, was := old[name]
			after, is := new[name]
			if was != is || before != after {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// String says what became of the parameter.
func (c Change) String() string {
	switch {
	case c.Hidden:
		return "(not recorded)"
	case c.From == nil && c.To == nil:
		return ""
	case c.From == nil:
		return shape.Quote(*c.To)
	case c.To == nil:
		return shape.Quote(*c.From) + " -> unset"
	}
	return shape.Quote(*c.From) + " -> " + shape.Quote(*c.To)
}
