package render

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// general is what the general encoder makes of the pools.
func general(t testing.TB, pools []nodepool.NodePool) string {
	t.Helper()
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	for i := range pools {
		require.NoError(t, encoder.Encode(&pools[i]))
	}
	require.NoError(t, encoder.Close())
	return text.String()
}

// TestYAMLIsThatOfTheGeneralEncoder holds the text against yaml.v3's, over pools with every field there or not and with
// scalars that must be quoted or must not.
func TestYAMLIsThatOfTheGeneralEncoder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{
		"a", "web", "on-demand", "true", "no", "on", "y", "null", "~", "0", "10", "007", "1e3", "0x1f", "0o17", "1_000", "1.5", ".5", "1:30", "10%", "100%",
		"720h", "30s", "5m", "8h30m", "400Gi", "-1", "+1", "0 9 * * MON-FRI", "@daily", "* * * * *", "?", "a: b", "a #b", "- a", "[a]", "{a", "'a'",
		`"a"`, "a\tb", "é", "2026-11-30", "=", "<<", "!a", "&a", "*a", "%a", "`a", "a,b", "x/y", "Never", " a", "a ", "1h", "12", "infinity", ".inf", "0b1", "1Gi",
	}
	word := func() string { return words[random.IntN(len(words))] }
	maybe := func() string {
		if random.IntN(2) == 0 {
			return ""
		}
		return word()
	}
	list := func(least int) []string {
		var items []string
		for range least + random.IntN(3) {
			items = append(items, word())
		}
		return items
	}
	// The general encoder sorts "2" before "10"; keys of one length leave that apart.
	stringMap := func() map[string]string {
		if random.IntN(2) == 0 {
			return map[string]string{word(): word()}
		}
		values := map[string]string{}
		for _, key := range []string{"k", "l", "m"}[:random.IntN(4)] {
			values[key] = word()
		}
		return values
	}
	for range 2000 {
		pool := newPool(word())
		pool.Spec.Template.Metadata.Labels = stringMap()
		for range random.IntN(3) {
			pool.Spec.Template.Spec.Taints = append(pool.Spec.Template.Spec.Taints, nodepool.Taint{Key: word(), Value: maybe(), Effect: word()})
		}
		for range 1 + random.IntN(3) {
			pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements,
				nodepool.Requirement{Key: word(), Operator: word(), Values: list(0), MinValues: random.IntN(2) * 3})
		}
		pool.Spec.Template.Spec.ExpireAfter = maybe()
		pool.Spec.Template.Spec.TerminationGracePeriod = maybe()
		pool.Spec.Disruption.ConsolidationPolicy = maybe()
		pool.Spec.Disruption.ConsolidateAfter = maybe()
		if random.IntN(4) > 0 {
			pool.Spec.Disruption.Budgets = nodepool.Budgets{}
		}
		for range random.IntN(3) {
			budget := nodepool.Budget{Nodes: word(), Schedule: maybe(), Duration: maybe()}
			for range random.IntN(3) {
				budget.Reasons = append(budget.Reasons, nodepool.Reason(word()))
			}
			pool.Spec.Disruption.Budgets = append(pool.Spec.Disruption.Budgets, budget)
		}
		pool.Spec.Limits = stringMap()
		pool.Spec.Weight = random.IntN(3) * 50

		pools := []nodepool.NodePool{pool, newPool("next")}
		pools[1].Spec.Template.Spec.Requirements = []nodepool.Requirement{{Key: "a", Operator: "Exists"}}
		for _, pools := range [][]nodepool.NodePool{pools, BudgetsOnly(pools)} {
			var text bytes.Buffer
			require.NoError(t, YAML(&text, pools))
			require.Equal(t, general(t, pools), text.String())
		}
	}
	for _, scalar := range []string{"0 9 * *\nMON", "\na", "a\r\nb", "\n"} {
		pool := newPool("lines")
		pool.Spec.Disruption.Budgets = nodepool.Budgets{{Nodes: "1", Schedule: scalar}}
		var text bytes.Buffer
		require.NoError(t, YAML(&text, []nodepool.NodePool{pool}))
		var read nodepool.NodePool
		require.NoError(t, yaml.Unmarshal(text.Bytes(), &read), text.String())
		require.Equal(t, scalar, read.Spec.Disruption.Budgets[0].Schedule)
	}
	var text bytes.Buffer
	require.NoError(t, YAML(&text, nil))
	require.Empty(t, text.String())
}

// BenchmarkYAML sets the encoder beside the general one, on the same 10,000 pools.
func BenchmarkYAML(b *testing.B) {
	pools, err := NodePools(customPoolsRack(b, 10_000))
	require.NoError(b, err)
	b.Run("render", func(b *testing.B) {
		for b.Loop() {
			var text bytes.Buffer
			require.NoError(b, YAML(&text, pools))
		}
	})
	b.Run("yaml.v3", func(b *testing.B) {
		for b.Loop() {
			general(b, pools)
		}
	})
}
