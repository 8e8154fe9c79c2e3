package params

import (
	"fmt"
	"slices"
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
)

// PoolLabel is the label that names the pool of a node. The rack sets it itself.
const PoolLabel = "convox.io/nodepool"

// rackLabels is how many labels, at most, the rack puts on a pool of its own accord.
const rackLabels = 2

// ParseLabels reads labels written as "k=v,k=v". The text must have been checked; empty text holds none.
func ParseLabels(text string) map[string]string {
	labels := map[string]string{}
	if text == "" {
		return labels
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		labels[key] = value
	}
	return labels
}

// checkLabels says what is wrong with labels whose text has the right form, or "".
func checkLabels(text string, reserved []string) string {
	seen := map[string]bool{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(pair, "=")
		switch {
		case slices.Contains(reserved, key):
			return fmt.Sprintf("the label %s is reserved, the rack sets it itself; leave it out", key)
		case seen[key]:
			return fmt.Sprintf("the label %s stands twice; write it once", shape.Quote(key))
		}
		if problem := nodepool.CheckLabelKey(key); problem != "" {
			return problem
		}
		if problem := nodepool.CheckLabelValue(value); problem != "" {
			return problem
		}
		seen[key] = true
	}
	if most := nodepool.MaxLabels - rackLabels; len(seen) > most {
		return fmt.Sprintf("it has %d labels; %d at most are taken", len(seen), most)
	}
	return ""
}

// ParseTaints reads taints written as "key=value:Effect" or "key:Effect", separated by commas. The text must have been
// checked; empty text holds none.
func ParseTaints(text string) []nodepool.Taint {
	if text == "" {
		return nil
	}
	var taints []nodepool.Taint
	for item := range strings.SplitSeq(text, ",") {
		name, effect, _ := strings.Cut(item, ":")
		key, value, _ := strings.Cut(name, "=")
		taints = append(taints, nodepool.Taint{Key: key, Value: value, Effect: effect})
	}
	return taints
}

// checkTaints says what is wrong with taints whose text has the right form, or "".
func checkTaints(text string) string {
	taints := ParseTaints(text)
	for _, taint := range taints {
		if taint.Key == PoolLabel {
			return fmt.Sprintf("the taint %s is reserved; choose another key", PoolLabel)
		}
		if problem := nodepool.CheckTaint(taint); problem != "" {
			return problem
		}
	}
	return nodepool.CheckTaintsDistinct(taints)
}
