package nodepool

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestArms says when budgets bring a window that blocks, however it is written.
func TestArms(t *testing.T) {
	window := func(nodes, schedule string) Budget {
		return Budget{Nodes: nodes, Reasons: Reasons{Drifted, Underutilized}, Schedule: schedule, Duration: "8h"}
	}
	before := Budgets{{Nodes: "10%"}, window("0", "@daily")}
	for _, c := range []struct {
		is      string
		budgets Budgets
		want    bool
	}{
		{"the same", before, false},
		{"the same, written otherwise", Budgets{{Nodes: "0", Reasons: Reasons{Underutilized, Drifted}, Schedule: "@daily", Duration: "480m"}}, false},
		{"another schedule", Budgets{window("0", "@weekly")}, true},
		{"none per cent", Budgets{window("0%", "@weekly")}, true},
		{"zeros", Budgets{window("00", "@weekly")}, true},
		{"a window that allows one", Budgets{window("1", "@weekly")}, false},
		{"a block at all times", Budgets{{Nodes: "0"}}, false},
		{"none", nil, false},
	} {
		assert.Equal(t, c.want, c.budgets.Arms(before), c.is)
	}
}

// TestSame takes lists for the same that hold the same budgets.
func TestSame(t *testing.T) {
	budgets := Budgets{{Nodes: "10%"}, {Nodes: "0", Reasons: Reasons{Drifted, Empty}, Schedule: "@daily", Duration: "8h"}}
	for _, c := range []struct {
		is    string
		other Budgets
		want  bool
	}{
		{"in another order", Budgets{budgets[1], budgets[0]}, true},
		{"with reasons in another order", Budgets{{Nodes: "10%"}, {Nodes: "0", Reasons: Reasons{Empty, Drifted}, Schedule: "@daily", Duration: "8h0m0s"}}, true},
		{"with one twice", Budgets{budgets[0], budgets[1], budgets[1]}, false},
		{"with one less", Budgets{budgets[0]}, false},
		{"for all reasons", Budgets{{Nodes: "10%"}, {Nodes: "0", Schedule: "@daily", Duration: "8h"}}, false},
		{"for no reason", Budgets{{Nodes: "10%"}, {Nodes: "0", Reasons: Reasons{}, Schedule: "@daily", Duration: "8h"}}, false},
		{"in seconds", Budgets{{Nodes: "10%"}, {Nodes: "0", Reasons: Reasons{Drifted, Empty}, Schedule: "@daily", Duration: "8h1s"}}, false},
	} {
		assert.Equal(t, c.want, budgets.Same(c.other), c.is)
		assert.Equal(t, c.want, c.other.Same(budgets), c.is)
	}
}
