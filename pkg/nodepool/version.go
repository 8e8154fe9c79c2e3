package nodepool

import (
	"fmt"
	"strings"
)

// Version is a minor release of Karpenter 1, by its number: the rules for a NodePool differ from one to the next.
type Version int

// The versions whose rules this package knows.
const (
	V1_13 Version = 13 + iota
	V1_14
	V1_15
)

// Newest is the newest version that this package knows.
const Newest = V1_15

// Versions returns the versions, the oldest first.
func Versions() []string {
	var versions []string
	for v := V1_13; v <= Newest; v++ {
		versions = append(versions, v.String())
	}
	return versions
}

// ParseVersion reads "1.15", "v1.15" or "1.15.2".
func ParseVersion(text string) (Version, error) {
	for v := V1_13; v <= Newest; v++ {
		rest, found := strings.CutPrefix(strings.TrimPrefix(text, "v"), v.String())
		if found && (rest == "" || strings.HasPrefix(rest, ".")) {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%q is not a Karpenter version known here; write one of %s", text, strings.Join(Versions(), ", "))
}

// String returns the version as "1.15".
func (v Version) String() string { return fmt.Sprintf("1.%d", int(v)) }

// Reasons returns the disruption reasons of the version, in the order in which they are reported.
func (v Version) Reasons() Reasons {
	if v >= V1_15 {
		return Reasons{Empty, Underutilized, Drifted, Unhealthy}
	}
	return Reasons{Empty, Underutilized, Drifted}
}

// ConsolidationPolicies returns the values of consolidationPolicy that the version takes.
func (v Version) ConsolidationPolicies() []string {
	if v >= V1_14 {
		return []string{"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"}
	}
	return []string{"WhenEmpty", "WhenEmptyOrUnderutilized"}
}
