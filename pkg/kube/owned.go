package kube

import (
	"encoding/json"
	"maps"
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
	owned["metadata"] = map[string]any{"name": live.GetName()} // no more of it is ever applied
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

// Overlay puts the fields of an object over those of another one, as server-side apply does: maps field by field, all else whole.
func Overlay(under, over map[string]any) map[string]any {
	merged := make(map[string]any, len(under))
	maps.Copy(merged, under)
	for key, value := range over {
		below, belowIsMap := merged[key].(map[string]any)
		if above, isMap := value.(map[string]any); isMap && belowIsMap {
			value = Overlay(below, above)
		}
		merged[key] = value
	}
	return merged
}

// Predict returns what the cluster has after an object is applied over a live one, as far as that can be told without the API
// server: what this program applied before and no longer does goes, also where others manage it too.
func Predict(live *unstructured.Unstructured, object map[string]any) map[string]any {
	return Overlay(without(live.Object, Owned(live), object), object)
}

// without returns a value less what is owned of it and not kept.
func without(value, owned, kept map[string]any) map[string]any {
	rest := make(map[string]any, len(value))
	for key, v := range value {
		ownedBelow, isOwned := owned[key]
		keptBelow, isKept := kept[key]
		valueMap, valueIsMap := v.(map[string]any)
		ownedMap, ownedIsMap := ownedBelow.(map[string]any)
		keptMap, _ := keptBelow.(map[string]any)
		switch {
		case isOwned && valueIsMap && ownedIsMap:
			if below := without(valueMap, ownedMap, keptMap); len(below) > 0 || isKept {
				rest[key] = below
			}
		case isOwned && !isKept:
		default:
			rest[key] = v
		}
	}
	return rest
}
