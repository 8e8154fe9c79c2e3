package params

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Rack is what is known of a rack: its provider, its release and the values stored for it. It is a value; nothing that
// is done with one changes it.
type Rack struct {
	Provider Providers
	Release  Release
	stored   map[string]string
}

// NewRack returns the rack of a provider with the values stored for it. The release is the stored one, or the newest
// that the catalog knows where none is stored.
func NewRack(provider string, stored map[string]string) (Rack, error) {
	p, err := ParseProvider(provider)
	if err != nil {
		return Rack{}, err
	}
	rack := Rack{Provider: p, Release: NewestRelease, stored: maps.Clone(stored)}
	if rack.stored == nil {
		rack.stored = map[string]string{}
	}
	if text := stored["release"]; text != "" {
		if rack.Release, err = ParseRelease(text); err != nil {
			return Rack{}, fmt.Errorf("the stored release: %w", err)
		}
	}
	return rack, nil
}

// AtRelease returns the rack as it would be at another release, with the same values.
func (r Rack) AtRelease(release Release) Rack {
	r.Release = release
	return r
}

// Stored returns a copy of the stored values, as they are kept.
func (r Rack) Stored() map[string]string { return maps.Clone(r.stored) }

// IsStored reports whether a value is stored under name.
func (r Rack) IsStored(name string) bool {
	_, found := r.stored[name]
	return found
}

// identity are the stored names that say which rack this is. They are not parameters that one lists or sets.
var identity = []string{"name", "region", "release"}

// Names returns the sorted names of what is stored, without those that say which rack it is.
func (r Rack) Names() []string {
	names := slices.Sorted(maps.Keys(r.stored))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(identity, name) })
}

// Value returns the value in effect: the stored one, else the default.
func (r Rack) Value(name string) string {
	if value, found := r.stored[name]; found {
		return value
	}
	if p := Find(name); p != nil {
		return p.Default
	}
	return ""
}

// Bool returns the value in effect of a parameter that is true or false.
func (r Rack) Bool(name string) bool {
	value, _ := strconv.ParseBool(r.Value(name))
	return value
}

// KarpenterEnabled reports whether Karpenter runs the nodes of the rack.
func (r Rack) KarpenterEnabled() bool { return r.Provider == AWS && r.Bool("karpenter_enabled") }

// CustomPools returns the pools of additional_karpenter_nodepools_config, in the order in which they are stored.
func (r Rack) CustomPools() ([]CustomPool, error) {
	var entries []poolEntry
	if err := parseDocument(r.Value("additional_karpenter_nodepools_config"), &entries); err != nil {
		return nil, fmt.Errorf("additional_karpenter_nodepools_config: %w", err)
	}
	pools := make([]CustomPool, len(entries))
	for i, entry := range entries {
		pools[i] = entry.pool()
	}
	return pools, nil
}

// KarpenterConfig returns what karpenter_config sets of the workload NodePool.
func (r Rack) KarpenterConfig() (KarpenterConfig, error) {
	var config KarpenterConfig
	if err := parseDocument(r.Value("karpenter_config"), &config); err != nil {
		return config, fmt.Errorf("karpenter_config: %w", err)
	}
	return config, nil
}

// Window returns the schedule and the duration of the disruption window, and whether the rack has one: both values are
// stored, and its release knows them.
func (r Rack) Window() (schedule, duration string, found bool) {
	schedule, duration = r.Value(blockScheduleName), r.Value(blockDurationName)
	return schedule, duration, schedule != "" && duration != "" && !r.Release.Before(WindowRelease)
}
