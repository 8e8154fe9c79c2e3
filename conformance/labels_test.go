package conformance

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// TestLabelKeys shows that karpenter_config takes the key of a node label, or of a requirement, exactly when the CRDs and
// the controller do that racks run.
func TestLabelKeys(t *testing.T) {
	workload := plainWorkload(t)
	for _, key := range slices.Concat(labelsOfCRD(t), sets.List(karpenterv1.WellKnownLabels), []string{
		"karpenter.sh/nodepool", "karpenter.sh/initialized", "karpenter.sh", "a.karpenter.sh/b", "notkarpenter.sh/a", "karpenter.sh.example.com/a",
		awsDomain, awsDomain + "/other", "a." + awsDomain + "/instance-family", "not" + awsDomain + "/a", "kubernetes.io/hostname",
		"node-role.kubernetes.io/a", "a/b/c", "/a", "a/", "", "a_b/c", "A.com/b", "-a", "a-", "a b", "ä", strings.Repeat("a", 63), strings.Repeat("a", 64),
		strings.Repeat("a", 252) + "/" + strings.Repeat("b", 63), strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63), strings.Repeat("a", 254) + "/b",
	}) {
		for what, template := range map[string]map[string]any{
			"node label":  {"metadata": map[string]any{"labels": map[string]any{key: "1"}}},
			"requirement": {"spec": map[string]any{"requirements": []any{map[string]any{"key": key, "operator": "Exists"}}}},
		} {
			t.Run(what+" "+key, func(t *testing.T) {
				refusal, fault := judge(t, workload, map[string]any{"template": template})
				if refusal == nil {
					require.NoError(t, fault, "it is taken")
				} else {
					require.Error(t, fault, "it is refused: %s", refusal)
				}
			})
		}
	}
}

// TestRequirements shows that karpenter_config takes no requirement that the API server refuses or that takes the pool out
// of service. It may well refuse more, such as values of which only some are known.
func TestRequirements(t *testing.T) {
	workload := plainWorkload(t)
	const capacity, tenancy = "karpenter.sh/capacity-type", awsDomain + "/instance-tenancy"
	long := strings.Repeat("a", 64)
	for _, requirement := range []string{
		`{"key":"a"}`, `{"operator":"Exists"}`, `{"key":"a","operator":"in"}`, `{"key":"a","operator":"Exists","values":["b"]}`,
		`{"key":"a","operator":"In"}`, `{"key":"a","operator":"In","values":[]}`, `{"key":"a","operator":"In","values":["b","b"]}`,
		`{"key":"a","operator":"In","values":[""]}`, `{"key":"a","operator":"In","values":["b c"]}`, `{"key":"a","operator":"In","values":["` + long + `"]}`,
		`{"key":"a","operator":"In","values":["` + long[1:] + `"]}`, `{"key":"a","operator":"In","values":[1]}`, `{"key":"a","operator":"In","values":[null]}`,
		`{"key":"a","operator":"NotIn","values":[]}`, `{"key":"a","operator":"NotIn"}`,
		`{"key":"a","operator":"Gt"}`, `{"key":"a","operator":"Gt","values":[]}`, `{"key":"a","operator":"Gt","values":["1","2"]}`,
		`{"key":"a","operator":"Lt","values":["b"]}`, `{"key":"a","operator":"Lt","values":[""]}`, `{"key":"a","operator":"Gte","values":["-1"]}`,
		`{"key":"a","operator":"Gte","values":["+1"]}`, `{"key":"a","operator":"Lte","values":["1.5"]}`, `{"key":"a","operator":"Lte","values":["0x1"]}`,
		`{"key":"a","operator":"Gt","values":["9223372036854775807"]}`, `{"key":"a","operator":"Gt","values":["9223372036854775808"]}`,
		`{"key":"a","operator":"Gt","values":["007"]}`, `{"key":"a","operator":"Gt","values":["1_000"]}`,
		`{"key":"a","operator":"In","values":["b"],"minValues":1}`, `{"key":"a","operator":"In","values":["b"],"minValues":2}`,
		`{"key":"a","operator":"In","values":["b"],"minValues":0}`, `{"key":"a","operator":"Exists","minValues":50}`,
		`{"key":"a","operator":"Exists","minValues":51}`, `{"key":"a","operator":"In","values":["b","b"],"minValues":2}`,
		`{"key":"` + capacity + `","operator":"In","values":["reserved"]}`, `{"key":"` + capacity + `","operator":"In","values":["ondemand"]}`,
		`{"key":"` + capacity + `","operator":"In","values":["spot","other"],"minValues":2}`, `{"key":"` + capacity + `","operator":"NotIn","values":["other"]}`,
		`{"key":"` + capacity + `","operator":"In","values":["spot","other"]}`,
		`{"key":"` + tenancy + `","operator":"In","values":["default","dedicated"]}`, `{"key":"` + tenancy + `","operator":"In","values":["host"]}`,
		`{"key":"` + tenancy + `","operator":"In","values":["default","host"],"minValues":2}`, `{"key":"` + tenancy + `","operator":"NotIn","values":["host"]}`,
		`{"key":"beta.kubernetes.io/arch","operator":"In","values":["amd64"]}`, `{"key":"kubernetes.io/arch","operator":"In","values":["other"]}`,
	} {
		t.Run(requirement, func(t *testing.T) {
			var decoded any
			require.NoError(t, json.Unmarshal([]byte(requirement), &decoded))
			refusal, fault := judge(t, workload, map[string]any{"template": map[string]any{"spec": map[string]any{"requirements": []any{decoded}}}})
			if refusal == nil {
				require.NoError(t, fault, "it is taken")
			}
		})
	}
}

// judge returns why the program refuses a karpenter_config for the NodePool, and why the API server or Karpenter would not
// take the workload pool that it makes; nil where they take it.
func judge(t *testing.T, workload, nodePool map[string]any) (refusal, fault error) {
	t.Helper()
	_, refusal = karpenterRack(nodePool).rack()
	text, err := json.Marshal(withSpec(workload, nodePool))
	require.NoError(t, err)
	pool, fault := decodePool(text)
	if fault == nil {
		fault = pool.check(false)
	}
	return refusal, fault
}

// labelsOfCRD are the labels that the rules of the AWS provider's CRD name.
func labelsOfCRD(t *testing.T) []string {
	t.Helper()
	text, err := moduleFile(awsProviderModule, nodePoolCRDFile)
	require.NoError(t, err)
	var keys []string
	for _, match := range regexp.MustCompile(`"([a-z0-9.]+/[a-z0-9-]+)"`).FindAllStringSubmatch(string(text), -1) {
		keys = append(keys, match[1])
	}
	require.Contains(t, keys, awsDomain+"/instance-family")
	slices.Sort(keys)
	return slices.Compact(keys)
}
