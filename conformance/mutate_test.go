package conformance

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// oddCharacters are what slips into values: what has a meaning to YAML, JSON, cron or Kubernetes, and blanks and marks
// that no one sees.
const oddCharacters = letters + digits + "---...___///:::=,,@#%&*!?|<>[]{}'\"`~^+$\\ \t\n\r\u0000\u0085\u00a0\u2028\u3000\ufeff\uff11é"

// mutatedRack returns a rack with a few of its parameters, one of them changed somewhere.
func mutatedRack(r *rand.Rand) rackInput {
	in := generateRack(r)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(in.set)), func(name string) bool {
		return name == "karpenter_enabled" || name == "karpenter_auth_mode"
	})
	if len(names) == 0 {
		return in
	}
	changed := oneOf(r, names...)
	for _, name := range names {
		if name != changed && chance(r, 0.6) {
			delete(in.set, name)
		}
	}
	in.set[changed] = mutatedJSON(r, in.set[changed])
	return in
}

// mutatedJSON returns a JSON value with one part changed: a text, a number, a key, or what an entry is.
func mutatedJSON(r *rand.Rand, value any) any {
	if chance(r, 0.03) {
		return oneOf[any](r, nil, "", 0, -1, 1.5, true, []any{}, map[string]any{}, "null", []any{nil}, []any{"a", "a"})
	}
	switch value := value.(type) {
	case map[string]any:
		return mutatedObject(r, value)
	case []any:
		if len(value) == 0 {
			return value
		}
		i := r.IntN(len(value))
		switch r.IntN(10) {
		case 0:
			return slices.Insert(slices.Clone(value), i, value[i])
		case 1:
			return slices.Delete(slices.Clone(value), i, i+1)
		}
		changed := slices.Clone(value)
		changed[i] = mutatedJSON(r, value[i])
		return changed
	case string:
		return mutated(r, value, oneOf(r, oddCharacters, letters+digits, digits))
	case int:
		return oneOf(r, value+1, -value, value*1000, 0, 101, 1<<31, 1<<40)
	}
	return value
}

func mutatedObject(r *rand.Rand, object map[string]any) map[string]any {
	if len(object) == 0 {
		return object
	}
	key := oneOf(r, slices.Sorted(maps.Keys(object))...)
	switch r.IntN(10) {
	case 0:
		return without(object, key)
	case 1:
		return with(without(object, key), mutated(r, key, oddCharacters), object[key])
	case 2:
		return with(object, oneOf(r, "startupTaints", "replicas", "annotations", "nodeClassRef", "node", "extra"), object[key])
	}
	return with(object, key, mutatedJSON(r, object[key]))
}
