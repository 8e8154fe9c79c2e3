package cluster

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

var documentSeparator = regexp.MustCompile(`(?m)^---[ \t]*(#.*)?$`)

// Objects reads a YAML stream as kubectl does, lists of objects included. Documents with nothing in them are left out.
func Objects(stream []byte) ([]Object, error) {
	var all []Object
	for i, document := range documentSeparator.Split(string(stream), -1) {
		var object Object
		if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		items, isList := object["items"].([]any)
		switch {
		case len(object) == 0:
		case isList:
			for _, item := range items {
				object, _ := item.(Object)
				all = append(all, object)
			}
		default:
			all = append(all, object)
		}
	}
	return all, nil
}

// serverMetadata are the fields of metadata that the API server sets.
var serverMetadata = []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"}

// Differences lists where an object of the API server differs from what was sent: what was dropped, changed or added. What
// every object gets does not count, nor does the status.
func Differences(sent, stored Object) []string {
	stored = maps.Clone(stored)
	delete(stored, "status")
	if metadata, ok := stored["metadata"].(Object); ok {
		metadata = maps.Clone(metadata)
		for _, field := range serverMetadata {
			delete(metadata, field)
		}
		stored["metadata"] = metadata
	}
	return differences("", sent, stored)
}

func differences(path string, sent, stored any) []string {
	sentMap, ok1 := sent.(Object)
	storedMap, ok2 := stored.(Object)
	if ok1 && ok2 {
		return mapDifferences(path, sentMap, storedMap)
	}
	sentList, ok1 := sent.([]any)
	storedList, ok2 := stored.([]any)
	if ok1 && ok2 && len(sentList) == len(storedList) {
		var all []string
		for i := range sentList {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), sentList[i], storedList[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(sent, stored) {
		return []string{fmt.Sprintf("%s: %v became %v", strings.TrimPrefix(path, "."), sent, stored)}
	}
	return nil
}

func mapDifferences(path string, sent, stored Object) []string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if value, found := stored[key]; found {
			all = append(all, differences(path+"."+key, sent[key], value)...)
		} else {
			all = append(all, fmt.Sprintf("%s: %v was dropped", strings.TrimPrefix(path+"."+key, "."), sent[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(stored)) {
		if _, found := sent[key]; !found {
			all = append(all, fmt.Sprintf("%s: %v was added", strings.TrimPrefix(path+"."+key, "."), stored[key]))
		}
	}
	return all
}
