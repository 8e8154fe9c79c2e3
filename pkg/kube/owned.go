package kube

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Owned returns what of an object this program has applied and still manages, at its present values. Whoever applies less takes
// the rest out of the object, unless others manage it too; so what is to stay has to be applied again.
func Owned(live *unstructured.Unstructured) map[string]any {
	owned := map[string]any{}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager != FieldManager || entry.Operation != "Apply" || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			continue
		}
		if picked, ok := pick(fields, live.Object).(map[string]any); ok {
			owned = picked
		}
	}
	for _, name := range []string{"apiVersion", "kind"} {
		owned[name] = live.Object[name]
	}
	owned["metadata"] = map[string]any{"name": live.GetName()}
	return owned
}

// pick returns what of a value is in a set of fields. Sets are written as the API server has them: "f:NAME" for each field of an
// object; lists, which are whole in a NodePool, and scalars have none.
func pick(fields map[string]any, value any) any {
	object, isObject := value.(map[string]any)
	picked := map[string]any{}
	hasFields := false
	for key, below := range fields {
		name, isField := strings.CutPrefix(key, "f:")
		if !isField {
			continue
		}
		hasFields = true
		if child, found := object[name]; found {
			below, _ := below.(map[string]any)
			picked[name] = pick(below, child)
		}
	}
	if !hasFields || !isObject {
		return value
	}
	return picked
}
