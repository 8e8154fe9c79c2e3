package conformance

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRenderedPools shows that the API server and Karpenter take every NodePool of every rack as it is.
func TestRenderedPools(t *testing.T) {
	const racks = 5000
	var seen tally
	forEachCase(t, racks, func(r *rand.Rand) error {
		in := generateRack(r)
		accepted, err := in.checkIfAccepted()
		switch {
		case err != nil:
			return in.minimal()
		case accepted:
			seen.add("accepted")
			seen.add(in.features()...)
		case seen.of("refused") < maxFailures:
			_, err := in.rack()
			t.Logf("refused: %s", err)
			fallthrough
		default:
			seen.add("refused")
		}
		return nil
	})
	t.Logf("accepted %d of %d", seen.of("accepted"), racks)
	require.GreaterOrEqual(t, seen.of("accepted"), racks*95/100, "the generator is there to make racks that are accepted")
	seen.requireAll(t, generatedParameters())
	seen.requireAll(t, wantedFeatures())
}

// wantedFeatures are the parts of the generated racks that have to occur, besides the parameters.
func wantedFeatures() []string {
	var wanted []string
	under := func(path string, names ...string) {
		for _, name := range names {
			wanted = append(wanted, path+name)
		}
	}
	const spec, disruption = configName + ".nodePool.template.spec.", configName + ".nodePool.disruption."
	under("release ", releases...)
	under(configName+".nodePool.template.metadata.", "labels", "labels.*")
	under(spec, "expireAfter", "requirements", "taints", "terminationGracePeriod")
	under(spec+"requirements[].", "key", "operator", "values", "minValues")
	under(spec+"requirements[].operator=", operators...)
	under(spec+"taints[].", "key", "value", "effect=NoSchedule", "effect=PreferNoSchedule", "effect=NoExecute")
	under(disruption, "consolidationPolicy=WhenEmpty", "consolidationPolicy=WhenEmptyOrUnderutilized", "consolidateAfter", "budgets")
	under(disruption+"budgets[].", "nodes", "schedule", "duration", "reasons[]=Empty", "reasons[]=Drifted", "reasons[]=Underutilized")
	under(configName+".nodePool.", "limits.*", "weight")
	under(configName+".ec2NodeClass.", slices.Sorted(maps.Keys(nodeClassFields))...)
	under(poolsName+"[].", "name", "instance_families", "instance_sizes", "capacity_types", "arch", "cpu_limit", "memory_limit_gb",
		"consolidation_policy", "consolidate_after", "node_expiry", "disruption_budget_nodes", "labels", "taints", "dedicated", "weight", "disk",
		"volume_type", "volume_iops", "volume_throughput", "ami_id", "instance_families[]", "instance_sizes[]", "capacity_types[]", "arch[]")
	return wanted
}

// TestMutatedRacks shows that whatever the program takes, it renders well: a value that the API server or Karpenter do
// not take is refused. The racks are those of TestRenderedPools with a part of a value changed.
func TestMutatedRacks(t *testing.T) {
	var seen tally
	forEachCase(t, 8000, func(r *rand.Rand) error {
		in := mutatedRack(r)
		accepted, err := in.checkIfAccepted()
		if accepted {
			seen.add("accepted")
		} else {
			seen.add("refused")
		}
		if err != nil {
			return in.minimal()
		}
		return nil
	})
	t.Logf("accepted %d, refused %d", seen.of("accepted"), seen.of("refused"))
	seen.requireAll(t, []string{"accepted", "refused"})
}

// TestOddLimits shows that the name of a resource, which the CRD takes whatever it is, stays what it is in YAML.
func TestOddLimits(t *testing.T) {
	names := []string{
		"", " ", "a b", "a: b", "a #b", "# a", "- a", "? a", "&a", "*a", "!a", "%a", "@a", "[a", "{a}", "'", "\"", "\\", "a\tb", "\ta", "a\nb", "\na", "a\n",
		"a\r\nb", "\u0085", "a\u0085b", "\u2028", "\u00a0", "\ufeffa", "\u0001", "\u007f", "é", "\U0001f600", "---", "...", "<<", "=", "~", strings.Repeat("a", 2000),
	}
	for _, name := range append(names, yamlWords...) {
		rack, err := karpenterRack(map[string]any{"limits": map[string]any{name: "1"}}).rack()
		if err != nil {
			continue
		}
		pools, err := checkRendered(rack)
		if assert.NoError(t, err, "%q", name) {
			limits := pools[0].object["spec"].(map[string]any)["limits"]
			assert.Equal(t, map[string]any{name: "1"}, limits)
		}
	}
}
