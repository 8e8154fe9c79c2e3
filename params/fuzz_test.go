package params

import (
	"strings"
	"testing"
	"unicode"
)

// FuzzApply sets one parameter to whatever comes. What is refused is refused with a message for a person, and what is
// stored is taken again as it is.
func FuzzApply(f *testing.F) {
	for _, seed := range [][2]string{
		{"karpenter_disruption_block_schedule", "0 9 * * MON-FRI"}, {"karpenter_disruption_budget_nodes", "10%"}, {"tags", "a=b"},
		{"karpenter_config", `{"nodePool":{"disruption":{"budgets":[{"nodes":"1","schedule":"@daily","duration":"1h"}]}}}`},
		{"additional_karpenter_nodepools_config", `[{"name":"a","taints":"x:NoSchedule","labels":"a=b"}]`},
		{"additional_node_groups_config", "W10="}, {"karpenter_node_taints", "a=b:NoSchedule"}, {"karpenter_node_labels", "a.b/c=d"},
		{"node_type", "t3.small"}, {"karpenter_node_overlays_config", `[{"requirements":[],"price":"1"}]`}, {"x", "\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	rack, err := NewRack("aws", map[string]string{"karpenter_enabled": "true", "karpenter_auth_mode": "true", blockDurationName: "1h", blockScheduleName: "@daily"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		outcome, err := rack.Apply(Change{Set: map[string]string{name: value}})
		if err != nil {
			if text := err.Error(); len(text) > 1<<20 || strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) {
				t.Fatalf("%.300q", text)
			}
			return
		}
		stored := outcome.Rack.Value(name)
		again, err := rack.Apply(Change{Set: map[string]string{name: stored}})
		if err != nil {
			t.Fatalf("%q was stored for %q, and is refused: %s", stored, value, err)
		}
		if again.Rack.Value(name) != stored {
			t.Fatalf("%q is stored for %q", again.Rack.Value(name), stored)
		}
	})
}
