package params

import (
	"fmt"
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"

	"golang.org/x/mod/semver"
)

// NewestRelease is the newest rack release that the catalog knows.
const NewestRelease = "3.25.7"

// The releases that changed what a rack renders.
const (
	// BuildBudgetRelease gave the build pool a budgets list of its own.
	BuildBudgetRelease = "3.25.3"
	// WindowRelease brought the disruption window, and the rack's expiry as the default of custom pools.
	WindowRelease = "3.25.6"
)

// Release is the version of a rack, such as 3.25.7.
type Release string

// ParseRelease reads a release, with or without a "v" before it.
func ParseRelease(text string) (Release, error) {
	version := strings.TrimPrefix(text, "v")
	if strings.Count(version, ".") < 2 || !semver.IsValid("v"+version) {
		return "", fmt.Errorf("%s is not a rack release; write one such as %s", shape.Quote(text), NewestRelease)
	}
	return Release(version), nil
}

// Before reports whether r is older than other.
func (r Release) Before(other string) bool { return semver.Compare("v"+string(r), "v"+other) < 0 }

// Karpenter returns the version of Karpenter that racks of the release run: 1.13 with every release known so far.
func (r Release) Karpenter() nodepool.Version { return nodepool.V1_13 }
