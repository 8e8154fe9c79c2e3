package conformance

import (
	"bufio"
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"time"

	"rackparams/params"
	"rackparams/render"

	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/yaml"
)

// renderedPool is one NodePool of a rack, read back from what the program writes.
type renderedPool struct {
	// object is the document as the API server gets it.
	object map[string]any
	// pool is the document as Karpenter's own type.
	pool *karpenterv1.NodePool
}

// renderedPools reads back the NodePools of a rack from the YAML that render writes. It is an error when Karpenter's type
// does not hold all of it, or when the JSON that render writes holds something else.
func renderedPools(rack params.Rack) ([]renderedPool, error) {
	pools, err := render.NodePools(rack)
	if err != nil {
		return nil, fmt.Errorf("rendering: %w", err)
	}
	var text, list bytes.Buffer
	if err := errors.Join(render.YAML(&text, pools), render.JSON(&list, pools)); err != nil {
		return nil, fmt.Errorf("writing: %w", err)
	}
	documents, err := splitDocuments(text.Bytes())
	if err != nil {
		return nil, err
	}
	if len(documents) != len(pools) {
		return nil, fmt.Errorf("%d pools became %d YAML documents:\n%s", len(pools), len(documents), &text)
	}
	rendered := make([]renderedPool, len(documents))
	for i, document := range documents {
		if rendered[i], err = decodePool(document); err != nil {
			return nil, fmt.Errorf("%w:\n%s", err, document)
		}
	}
	return rendered, checkList(list.Bytes(), rendered)
}

// splitDocuments returns the documents of a YAML stream.
func splitDocuments(text []byte) ([][]byte, error) {
	var documents [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		documents = append(documents, document)
	}
}

// decodePool reads a YAML document as kubectl and the API server do, and strictly as Karpenter's type. The type comes
// second: YAML read straight into it would turn a number into the text that a field wants.
func decodePool(document []byte) (renderedPool, error) {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return renderedPool{}, fmt.Errorf("reading the YAML: %w", err)
	}
	var rendered renderedPool
	if err := json.Unmarshal(text, &rendered.object); err != nil {
		return renderedPool{}, err
	}
	strict := stdjson.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&rendered.pool); err != nil {
		return renderedPool{}, fmt.Errorf("Karpenter cannot decode it: %w", err)
	}
	return rendered, nil
}

// checkList compares a List in JSON with the pools that the YAML holds.
func checkList(text []byte, rendered []renderedPool) error {
	var list map[string]any
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("reading the JSON: %w", err)
	}
	items := []any{}
	for _, pool := range rendered {
		items = append(items, pool.object)
	}
	if want := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}; !reflect.DeepEqual(list, want) {
		return fmt.Errorf("the JSON and the YAML differ: %s\nand\n%v", text, want)
	}
	return nil
}

// checkRendered returns the NodePools of a rack, or which of them the API server or Karpenter do not take as it is.
func checkRendered(rack params.Rack) ([]renderedPool, error) {
	rendered, err := renderedPools(rack)
	if err != nil {
		return nil, err
	}
	if len(rendered) == 0 {
		return nil, errors.New("the rack renders no NodePool")
	}
	for _, pool := range rendered {
		if err := pool.check(implicitBudgets(rack, pool.pool.Name)); err != nil {
			return nil, fmt.Errorf("the pool %s: %w", pool.pool.Name, err)
		}
	}
	return rendered, nil
}

// implicitBudgets reports whether a pool leaves its budgets to the default of the CRD: the build pool did until the
// release that gave it a list. Nothing else of a pool is left to defaults, which differ between versions of the CRD.
func implicitBudgets(rack params.Rack, name string) bool {
	return name == "build" && rack.Release.Before(params.BuildBudgetRelease)
}

func (p renderedPool) check(implicitBudgets bool) error {
	want := p.object
	if implicitBudgets {
		want = withSpec(p.object, budgetsOf([]any{map[string]any{"nodes": "10%"}}))
	}
	versions, err := crds()
	if err != nil {
		return err
	}
	for _, crd := range versions {
		result := crd.create(p.object)
		switch {
		case len(result.Errors) > 0:
			return fmt.Errorf("the CRD of %s refuses it: %w", crd.name, result.Errors.ToAggregate())
		case len(result.Pruned) > 0:
			return fmt.Errorf("the CRD of %s drops %q", crd.name, result.Pruned)
		case !reflect.DeepEqual(result.Stored, want):
			return fmt.Errorf("by the CRD of %s it is stored as\n%v\nand not as\n%v", crd.name, result.Stored, want)
		}
	}
	if err := p.pool.RuntimeValidate(context.Background()); err != nil {
		return fmt.Errorf("Karpenter takes it out of service: %w", err)
	}
	return checkAllowances(p.pool.Spec.Disruption.Budgets)
}

// withSpec returns the object of a NodePool with parts of its spec replaced. karpenter_config has its nodePool in the same
// form.
func withSpec(object, spec map[string]any) map[string]any {
	return merged(object, map[string]any{"spec": spec}).(map[string]any)
}

// budgetsOf returns the spec of a NodePool as far as its budgets.
func budgetsOf(budgets any) map[string]any {
	return map[string]any{"disruption": map[string]any{"budgets": budgets}}
}

// merged returns a JSON value with parts replaced: objects key by key, everything else whole.
func merged(value, parts any) any {
	object, isObject := value.(map[string]any)
	changes, areObject := parts.(map[string]any)
	if !isObject || !areObject {
		return parts
	}
	result := maps.Clone(object)
	for key, change := range changes {
		result[key] = merged(object[key], change)
	}
	return result
}

// clocks stand at instants on which budgets are asked: each day of a week, at hours that tell windows apart, and far
// from now.
var clocks = func() []clock.Clock {
	var all []clock.Clock
	for day := range 7 {
		all = append(all, clockAt(time.Date(2026, time.March, 1+day, 5*day%24, 17*day%60, 0, 0, time.UTC)))
	}
	return append(all, clockAt(time.Date(2044, time.February, 29, 23, 59, 59, 999, time.UTC)))
}()

// clockAt returns a clock that stands at t.
func clockAt(t time.Time) clock.Clock { return clocktesting.NewFakeClock(t) }

// checkAllowances says which budget Karpenter cannot work with, which would freeze its pool, or for which it comes to a
// number that makes no sense.
func checkAllowances(budgets []karpenterv1.Budget) error {
	for i, budget := range budgets {
		for j, clock := range clocks {
			nodes := []int{0, 1, 9, 1000}[j%4]
			allowed, err := budget.GetAllowedDisruptions(clock, nodes)
			if err != nil {
				return fmt.Errorf("budget %d is an error at %s: %w", i, clock.Now(), err)
			}
			if allowed < 0 {
				return fmt.Errorf("budget %d allows %d of %d nodes at %s", i, allowed, nodes, clock.Now())
			}
		}
	}
	return nil
}
