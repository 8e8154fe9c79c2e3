package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/yaml"
)

// lintVersions are the versions of Karpenter whose rules lint knows, with the CRD that says them.
var lintVersions = []struct {
	version nodepool.Version
	crd     string
}{{nodepool.V1_13, karpenter113}, {nodepool.V1_14, karpenter114}, {nodepool.V1_15, karpenterNewest}}

// lintTime is when the pools are linted.
var lintTime = time.Date(2026, time.November, 30, 12, 0, 0, 0, time.UTC)

// The deliberate exceptions: what lint calls an error though the API server and Karpenter take it.
const (
	emptyReasons = "a list of no reasons"     // the budget never counts
	absentNodes  = "a budget without nodes"   // the API server fills in 10%
	nullValue    = "a value that is null"     // the API server drops it
	sound        = "nothing is wrong"         // what the others are told from
	unsound      = "refused, dropped, frozen" // by the API server or by Karpenter
)

// TestLint shows that lint finds an error exactly where the API server refuses a NodePool or drops a part of it, or where
// Karpenter cannot work with a budget or takes it for another; with three exceptions, each of which is what it says.
func TestLint(t *testing.T) {
	var seen tally
	forEachCase(t, 7000, func(r *rand.Rand) error {
		spec, kind := lintedSpec(r)
		form := oneOf(r, poolForms...)
		for _, v := range lintVersions {
			verdict, err := checkLint(v.version, v.crd, form.write(spec))
			seen.add(verdict, kind+" "+map[bool]string{true: sound, false: unsound}[verdict == sound])
			if err == nil {
				continue
			}
			smallest := shrink(spec, smallerJSON, func(spec any) bool {
				_, err := checkLint(v.version, v.crd, form.write(spec))
				return err != nil
			})
			_, err = checkLint(v.version, v.crd, form.write(smallest))
			return fmt.Errorf("%s, by the rules of %s: %w\nfor\n%s", kind, v.version, err, form.write(smallest))
		}
		return nil
	})
	for _, kind := range append([]string{undamaged}, specDamageNames()...) {
		t.Logf("%-40s error %4d, none %4d", kind, seen.of(kind+" "+unsound), seen.of(kind+" "+sound))
	}
	t.Logf("sound %d, unsound %d, only %s %d, only %s %d, only %s %d", seen.of(sound), seen.of(unsound),
		emptyReasons, seen.of(emptyReasons), absentNodes, seen.of(absentNodes), nullValue, seen.of(nullValue))
	seen.requireAll(t, []string{sound, unsound, emptyReasons, absentNodes, nullValue})
	for _, kind := range specDamageNames() {
		seen.requireAll(t, []string{kind + " " + unsound})
	}
}

// poolForm is a way to write a NodePool.
type poolForm struct {
	name    string
	marshal func(object any) ([]byte, error)
}

var poolForms = []poolForm{
	{"YAML", func(object any) ([]byte, error) { return yaml.Marshal(object) }},
	{"YAML", func(object any) ([]byte, error) { return yaml.Marshal(object) }},
	{"JSON", json.Marshal},
	{"JSON in lines", func(object any) ([]byte, error) {
		text, err := json.Marshal(object)
		return regexp.MustCompile(`([{,\[])"`).ReplaceAll(text, []byte("$1\n  \"")), err
	}},
}

// write returns a NodePool of a spec, as text. A value that spelled made stands in it as it is.
func (f poolForm) write(spec any) string {
	object := map[string]any{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": "pool"}}
	if fields, isObject := spec.(map[string]any); isObject {
		spec = with(fields, "template", soundTemplate)
	}
	if spec != missing {
		object["spec"] = spec
	}
	text, err := f.marshal(object)
	if err != nil {
		// The YAML library goes through JSON that it reads as YAML, and cannot read all of it, long keys least of all.
		if text, err = json.Marshal(object); err != nil {
			panic(err)
		}
	}
	return spelledText.ReplaceAllString(string(text), "$1")
}

// soundTemplate is the template of every pool: lint leaves it to the API server.
var soundTemplate = map[string]any{"spec": map[string]any{
	"requirements": []any{}, "nodeClassRef": map[string]any{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
	"expireAfter": "720h",
}}

// missing stands for a spec that is not there.
const missing = "<missing>"

var spelledText = regexp.MustCompile(`['"]?raw\(([^)]*)\)raw['"]?`)

// spelled returns a value that is written just so, where a marshaller has one spelling for each value.
func spelled(text string) string { return "raw(" + text + ")raw" }

// checkLint says where lint and the API server or Karpenter differ about a NodePool, and how it is with it.
func checkLint(version nodepool.Version, crdName, text string) (verdict string, err error) {
	crd, err := findCRD(crdName)
	if err != nil {
		return "", err
	}
	object, err := readObject(text)
	if err != nil {
		return unsound, nil // no tool reads it
	}
	findings, err := lintErrors(version, text)
	if err != nil {
		return "", fmt.Errorf("lint cannot read it: %w", err)
	}
	for _, finding := range findings {
		if lines := strings.Count(text, "\n") + 1; finding.Line < 1 || finding.Line > lines || finding.Column < 1 || !strings.HasPrefix(finding.Path, "spec") {
			return "", fmt.Errorf("the finding %+v is at no place of the text", finding)
		}
	}
	reason := whyUnsound(crd, object)
	exceptions := lintExceptions(object)
	switch {
	case reason != "" && len(findings) == 0:
		return unsound, fmt.Errorf("%s, and lint has no error", reason)
	case reason != "":
		return unsound, nil
	case len(exceptions) == 0 && len(findings) > 0:
		return sound, fmt.Errorf("the API server and Karpenter take it as it is, and lint has the error %+v", findings[0])
	case len(exceptions) == 0:
		return sound, nil
	}
	verdict = slices.Sorted(maps.Keys(exceptions))[0]
	return verdict, checkExceptions(exceptions, findings)
}

// readObject reads a document as kubectl and the API server do.
func readObject(text string) (map[string]any, error) {
	document, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	var object map[string]any
	return object, json.Unmarshal(document, &object)
}

// lintErrors returns the errors that lint finds in the NodePool that a text holds.
func lintErrors(version nodepool.Version, text string) ([]nodepool.Finding, error) {
	var findings []nodepool.Finding
	pools := 0
	for manifest, err := range nodepool.Manifests(strings.NewReader(text), "pool") {
		if err != nil {
			return nil, err
		}
		pools++
		findings = append(findings, manifest.Lint(version, lintTime)...)
	}
	if pools != 1 {
		return nil, fmt.Errorf("it reads %d NodePools", pools)
	}
	return slices.DeleteFunc(findings, func(f nodepool.Finding) bool { return f.Severity != nodepool.SeverityError }), nil
}

// whyUnsound returns what the API server or Karpenter make of a NodePool that its author cannot have meant, or "".
func whyUnsound(crd *crd, object map[string]any) string {
	result := crd.create(object)
	switch {
	case len(result.Errors) > 0:
		return "the API server refuses it: " + result.Errors.ToAggregate().Error()
	case len(result.Pruned) > 0:
		return fmt.Sprintf("the API server drops %q", result.Pruned)
	}
	document, err := json.Marshal(result.Stored)
	if err != nil {
		return err.Error()
	}
	var pool karpenterv1.NodePool
	if err := json.Unmarshal(document, &pool); err != nil {
		return "Karpenter cannot decode it: " + err.Error()
	}
	for _, budget := range pool.Spec.Disruption.Budgets {
		budget.Reasons = nil
		if reason := whyRefuseBudget(budget); reason != "" {
			return reason
		}
	}
	return ""
}

// lintExceptions returns the deliberate exceptions that a NodePool holds, which the API server takes.
func lintExceptions(object map[string]any) map[string]bool {
	exceptions := map[string]bool{}
	spec, _ := object["spec"].(map[string]any)
	if holdsNull(without(spec, "template")) {
		exceptions[nullValue] = true
	}
	disruption, _ := spec["disruption"].(map[string]any)
	budgets, _ := disruption["budgets"].([]any)
	for _, budget := range budgets {
		budget, isObject := budget.(map[string]any)
		if _, given := budget["nodes"]; isObject && !given {
			exceptions[absentNodes] = true
		}
		if reasons, isList := budget["reasons"].([]any); isList && len(reasons) == 0 {
			exceptions[emptyReasons] = true
		}
	}
	return exceptions
}

// holdsNull reports whether a value is null somewhere.
func holdsNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, entry := range value {
			if holdsNull(entry) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(value, holdsNull)
	}
	return false
}

// checkExceptions says which of the exceptions lint does not name, and what else it calls an error.
func checkExceptions(exceptions map[string]bool, findings []nodepool.Finding) error {
	named := map[string]bool{}
	for _, f := range findings {
		switch {
		case f.Rule == nodepool.RuleReasonsEmpty:
			named[emptyReasons] = true
		case f.Rule == nodepool.RuleNodesFormat && strings.Contains(f.Message, "10%"):
			named[absentNodes] = true
		case strings.HasPrefix(f.Message, "null is not "):
			named[nullValue] = true
		case exceptions[nullValue]:
			// It counts as there for the rules that take two fields.
		default:
			return fmt.Errorf("the API server and Karpenter take it but for %v, and lint has the error %+v", exceptions, f)
		}
	}
	if !maps.Equal(named, exceptions) {
		return fmt.Errorf("it holds %v, and lint names %v", exceptions, named)
	}
	return nil
}

// lintedSpec returns the spec of a NodePool with a sound template, and what was done to the rest of it.
func lintedSpec(r *rand.Rand) (spec any, kind string) {
	made := soundSpec(r)
	kind = oneOf(r, append([]string{undamaged, undamaged, undamaged}, specDamageNames()...)...)
	switch harm := specDamages[kind]; {
	case kind == undamaged:
		return made, kind
	case harm != nil:
		return harm(r, made), kind
	}
	return inDisruption(func(r *rand.Rand, disruption map[string]any) {
		budgets, _ := disruption["budgets"].([]any)
		disruption["budgets"] = damages[kind](r, budgets)
	})(r, made), kind
}

// soundSpec returns a spec that every version takes, without its template.
func soundSpec(r *rand.Rand) map[string]any {
	spec := map[string]any{}
	maybe(r, spec, "disruption", func() any {
		disruption := map[string]any{"consolidateAfter": duration(r, true)}
		maybe(r, disruption, "consolidationPolicy", func() any { return oneOf(r, "WhenEmpty", "WhenEmptyOrUnderutilized") })
		maybe(r, disruption, "budgets", func() any { return goodBudgets(r) })
		return disruption
	})
	if chance(r, 0.2) {
		spec["replicas"] = r.IntN(100)
		maybe(r, spec, "limits", func() any { return oneOf(r, map[string]any{}, map[string]any{"nodes": quantity(r)}) })
		return spec
	}
	maybe(r, spec, "limits", func() any { return limitsOf(r) })
	maybe(r, spec, "weight", func() any { return 1 + r.IntN(100) })
	return spec
}

func limitsOf(r *rand.Rand) map[string]any {
	limits := map[string]any{}
	for _, name := range some(r, 0, 4, "cpu", "memory", "nodes", "ephemeral-storage", "nvidia.com/gpu", "on", "1e3", "Any thing") {
		limits[name] = quantity(r)
	}
	return limits
}

// specDamages are what people, and tools, do to a spec besides what they do to its budgets.
var specDamages = map[string]func(r *rand.Rand, spec map[string]any) any{
	"spec is something else": func(r *rand.Rand, _ map[string]any) any {
		return oneOf[any](r, nil, missing, "spec", 1, []any{}, []any{map[string]any{"disruption": nil}})
	},
	"a key of spec is unknown": func(r *rand.Rand, spec map[string]any) any {
		spec[oneOf(r, "budgets", "Disruption", "disruptions", "limit", "Weight", "consolidationPolicy", "ttlSecondsAfterEmpty", "", "a b", "replica")] = oneOf[any](r, nil, 1, "a", []any{}, map[string]any{})
		return spec
	},
	"a key of spec is misspelt": func(r *rand.Rand, spec map[string]any) any {
		keys := slices.Sorted(maps.Keys(spec))
		if len(keys) == 0 {
			return spec
		}
		key := oneOf(r, keys...)
		value := spec[key]
		delete(spec, key)
		spec[mutated(r, key, lower+upper)] = value
		return spec
	},
	"disruption is something else": specField("disruption", func(r *rand.Rand) any {
		return oneOf[any](r, nil, "Never", 10, true, []any{}, []any{map[string]any{"nodes": "10%"}}, map[string]any{})
	}),
	"a key of disruption is unknown": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		disruption[oneOf(r, "budget", "expireAfter", "nodes", "Budgets", "consolidateafter", "", "schedule", mutated(r, "budgets", lower))] = oneOf[any](r, nil, "30s", []any{})
	}),
	"a key of disruption is misspelt": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		key := oneOf(r, slices.Sorted(maps.Keys(disruption))...)
		value := disruption[key]
		delete(disruption, key)
		disruption[mutated(r, key, lower+upper)] = value
	}),
	"consolidateAfter is missing": inDisruption(func(_ *rand.Rand, disruption map[string]any) { delete(disruption, "consolidateAfter") }),
	"consolidateAfter is another": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		disruption["consolidateAfter"] = oneOf[any](r, nil, 0, 30, "", "30", "never", "Never ", "1d", "1.5h", "-1s", "1h30m", "1m1m", "30s\n", "9999999h", "2562047h47m17s",
			"99999999999999999999s", spelled("0"), spelled("1_0s"), spelled("30s"), spelled("'30s'"), spelled("~"), mutated(r, "30s", digits+"smh."))
	}),
	"consolidationPolicy is another": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		disruption["consolidationPolicy"] = oneOf[any](r, nil, 1, true, "", "Balanced", "Balanced", "balanced", "WhenUnderutilized", "Never", "whenEmpty", []any{"WhenEmpty"}, mutated(r, "WhenEmpty", letters))
	}),
	"a budget names Unhealthy": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		disruption["budgets"] = []any{map[string]any{"nodes": "1", "reasons": some[any](r, 1, 3, "Unhealthy", "Drifted", "Unhealthy")}}
	}),
	"a list of reasons is long": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		disruption["budgets"] = []any{map[string]any{"nodes": "1", "reasons": slices.Repeat([]any{"Drifted"}, oneOf(r, 2, 50, 51))}}
	}),
	"nodes are spelled": inDisruption(func(r *rand.Rand, disruption map[string]any) {
		disruption["budgets"] = []any{map[string]any{"nodes": spelled(oneOf(r, "5", "08", "0x5", "0o7", "1_0", "+5", "1e3", ".5", "5%", "yes", "on", "~", "null", "1:30", "'5'", `"5"`, "010%", "100%", "2026-01-01", "0b1", "1."))}}
	}),
	"weight is another": specField("weight", func(r *rand.Rand) any {
		return oneOf[any](r, nil, 0, 101, -1, 1.5, "10", true, 1<<40, []any{1}, spelled("1.0"), spelled("1e1"), spelled("10.0"), spelled("1e2"), spelled("1e3"), spelled("0x10"), spelled("010"),
			spelled("0o10"), spelled("0b11"), spelled("1_0"), spelled("+5"), spelled("0144"), spelled("-0"), spelled("!!int 5"), spelled("!!str 5"), spelled("99999999999999999999"))
	}),
	"replicas are another": specField("replicas", func(r *rand.Rand) any {
		return oneOf[any](r, nil, 0, -1, 1.5, "3", true, 1<<40, spelled("1.0"), spelled("1e1"), spelled("0x10"), spelled("010"), spelled("+5"), spelled("-0"), spelled("1_0"), spelled("9223372036854775807"),
			spelled("9223372036854775808"), spelled("99999999999999999999"))
	}),
	"replicas stand with others": func(r *rand.Rand, spec map[string]any) any {
		spec["replicas"] = r.IntN(10)
		maybe(r, spec, "limits", func() any { return limitsOf(r) })
		maybe(r, spec, "weight", func() any { return 1 + r.IntN(100) })
		return spec
	},
	"limits are something else": specField("limits", func(r *rand.Rand) any {
		return oneOf[any](r, nil, "100", 100, []any{}, []any{map[string]any{"cpu": 1}}, true)
	}),
	"a limit is another": specField("limits", func(r *rand.Rand) any {
		return map[string]any{oneOf(r, "cpu", "memory", "nodes", ""): oneOf[any](r, nil, 1.5, true, "", "ten", "1 Gi", "1gi", "--1", "1e", "1e1.5", "1e100", "1E", "1ki", "0x10", "1_000", []any{}, map[string]any{"cpu": "1"},
			spelled("1.0"), spelled("1.5"), spelled("1e3"), spelled("0x10"), spelled("010"), spelled("1_000"), spelled("+5"), spelled("100Gi"), spelled("99999999999999999999"), spelled("-0"), mutated(r, "100Gi", digits+".eEKMGi+-"))}
	}),
	"anything is changed": func(r *rand.Rand, spec map[string]any) any {
		return mutatedJSON(r, any(spec))
	},
}

func specDamageNames() []string {
	return slices.Concat(slices.Sorted(maps.Keys(specDamages)), damageNames)
}

// specField gives a key of spec another value.
func specField(key string, value func(r *rand.Rand) any) func(r *rand.Rand, spec map[string]any) any {
	return func(r *rand.Rand, spec map[string]any) any {
		if key != "replicas" {
			delete(spec, "replicas")
		} else {
			delete(spec, "weight")
			delete(spec, "limits")
		}
		return with(spec, key, value(r))
	}
}

// inDisruption does harm to spec.disruption.
func inDisruption(harm func(r *rand.Rand, disruption map[string]any)) func(r *rand.Rand, spec map[string]any) any {
	return func(r *rand.Rand, spec map[string]any) any {
		disruption, given := spec["disruption"].(map[string]any)
		if !given {
			disruption = map[string]any{"consolidateAfter": "0s"}
		}
		disruption = maps.Clone(disruption)
		harm(r, disruption)
		return with(spec, "disruption", disruption)
	}
}

// TestLintAPIVersions shows that a NodePool at an API version that the CRD does not serve is an error, and nothing else is
// said of it.
func TestLintAPIVersions(t *testing.T) {
	text := poolForms[0].write(soundSpec(rand.New(rand.NewPCG(1, 1))))
	for _, apiVersion := range []string{"karpenter.sh/v1beta1", "karpenter.sh/v1alpha5", "karpenter.sh/v2", "karpenter.sh"} {
		findings, err := lintErrors(nodepool.Newest, strings.Replace(text, "karpenter.sh/v1", apiVersion, 1))
		require.NoError(t, err)
		require.Len(t, findings, 1, apiVersion)
		require.Equal(t, nodepool.RuleAPIVersion, findings[0].Rule)
	}
	for _, other := range []string{"kind: Pod\n", "apiVersion: example.com/v1\nkind: NodePool\n"} {
		_, err := lintErrors(nodepool.Newest, other)
		require.EqualError(t, err, "it reads 0 NodePools")
	}
}
