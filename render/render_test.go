package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"rackparams/params"
	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

func loadRack(t testing.TB, path string) params.Rack {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var stored map[string]string
	require.NoError(t, json.Unmarshal(data, &stored))
	rack, err := params.NewRack("aws", stored)
	require.NoError(t, err)
	return rack
}

// TestGolden renders one rack in each span of releases that renders differently.
func TestGolden(t *testing.T) {
	rack := loadRack(t, "../testdata/render/rack.json")
	_, err := rack.Validate(nil)
	require.NoError(t, err)
	rendered := map[string]string{}
	for _, release := range []params.Release{"3.25.2", "3.25.3", "3.25.6"} {
		pools, err := NodePools(rack.AtRelease(release))
		require.NoError(t, err)
		var text bytes.Buffer
		require.NoError(t, YAML(&text, pools))
		golden := fmt.Sprintf("../testdata/render/%s.yaml", release)
		if *update {
			require.NoError(t, os.WriteFile(golden, text.Bytes(), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), text.String(), release)
		rendered[string(release)] = text.String()
	}
	// What sets the spans apart.
	assert.NotContains(t, rendered["3.25.2"], "nodes: 50%")
	assert.Contains(t, rendered["3.25.3"], "nodes: 50%")
	assert.Equal(t, 0, strings.Count(rendered["3.25.3"], "schedule: 0 13 * * SAT"))
	assert.Equal(t, 4, strings.Count(rendered["3.25.6"], "schedule: 0 13 * * SAT"))
	assert.Equal(t, 2, strings.Count(rendered["3.25.3"], "expireAfter: 720h"), "custom pools before 3.25.6")
	assert.Equal(t, 4, strings.Count(rendered["3.25.6"], "expireAfter: Never"))
}

// TestBetweenSpans shows that the releases of a span render alike.
func TestBetweenSpans(t *testing.T) {
	rack := loadRack(t, "../testdata/render/rack.json")
	for _, span := range [][]params.Release{{"3.20.0", "3.24.9", "3.25.2"}, {"3.25.3", "3.25.4", "3.25.5"}, {"3.25.6", "3.25.7", "3.26.0", "4.0.0"}} {
		first, err := NodePools(rack.AtRelease(span[0]))
		require.NoError(t, err)
		for _, release := range span[1:] {
			pools, err := NodePools(rack.AtRelease(release))
			require.NoError(t, err)
			assert.Equal(t, first, pools, release)
		}
	}
}

// TestConfigReplacesWhole shows that each key that karpenter_config sets replaces the rack's own whole, an empty list
// too.
func TestConfigReplacesWhole(t *testing.T) {
	rack, err := params.NewRack("aws", map[string]string{"karpenter_enabled": "true", "karpenter_node_taints": "a:NoSchedule", "karpenter_config": `{"nodePool":{
		"template":{"spec":{"taints":[]}},
		"disruption":{"budgets":[]},
		"limits":{"nodes":"10"}}}`})
	require.NoError(t, err)
	pools, err := NodePools(rack)
	require.NoError(t, err)
	require.Len(t, pools, 1)
	assert.Empty(t, pools[0].Spec.Template.Spec.Taints)
	assert.Equal(t, map[string]string{"nodes": "10"}, pools[0].Spec.Limits)
	assert.Equal(t, nodepool.Budgets{}, pools[0].Spec.Disruption.Budgets)
	assert.Equal(t, "30s", pools[0].Spec.Disruption.ConsolidateAfter, "a key that is not set")

	// An empty list is written: were it left out, the API server would fill in a budget of 10%.
	var text bytes.Buffer
	require.NoError(t, YAML(&text, pools))
	assert.Contains(t, text.String(), "budgets: []\n")
	assert.NotContains(t, text.String(), "taints")
	text.Reset()
	require.NoError(t, JSON(&text, pools))
	assert.Contains(t, text.String(), `"budgets": []`)
}

func TestNoKarpenterNoPools(t *testing.T) {
	for _, provider := range params.ProviderNames() {
		rack, err := params.NewRack(provider, map[string]string{"karpenter_enabled": "true"})
		require.NoError(t, err)
		pools, err := NodePools(rack)
		assert.NoError(t, err)
		assert.Equal(t, provider == "aws", pools != nil, provider)
	}
	rack, _ := params.NewRack("aws", nil)
	pools, err := NodePools(rack)
	assert.NoError(t, err)
	assert.Nil(t, pools)
}

// customPoolsRack is a rack with n custom pools.
func customPoolsRack(t testing.TB, n int) params.Rack {
	t.Helper()
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, `%c{"name":"pool-%06d","labels":"team=t%d"}`, map[bool]byte{true: '[', false: ','}[i == 0], i, i)
	}
	rack, err := params.NewRack("aws", map[string]string{"karpenter_enabled": "true", "karpenter_auth_mode": "true"})
	require.NoError(t, err)
	outcome, err := rack.Apply(params.Change{Set: map[string]string{"additional_karpenter_nodepools_config": list.String() + "]"}})
	require.NoError(t, err)
	return outcome.Rack
}

// BenchmarkRender renders racks with custom pools to YAML, from the stored values to the last byte. What is stored of one rack may be
// a MiB, so that the most are those of five.
func BenchmarkRender(b *testing.B) {
	for _, n := range []int{1, 100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("pools=%d", n), func(b *testing.B) {
			const most = 20_000
			rack := customPoolsRack(b, min(n, most))
			for b.Loop() {
				for range max(n/most, 1) {
					pools, err := NodePools(rack)
					require.NoError(b, err)
					require.Len(b, pools, min(n, most)+1)
					var text bytes.Buffer
					require.NoError(b, YAML(&text, pools))
				}
			}
		})
	}
}
