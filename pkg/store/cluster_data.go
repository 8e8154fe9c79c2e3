package store

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"rackparams/pkg/shape"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// historyKey is the key of the ConfigMap with the history, which no parameter can be called.
const historyKey = "history.jsonl"

// The most that is kept of the history in a ConfigMap.
const (
	maxClusterEntries = 200
	maxClusterHistory = 128 << 10
)

// A ConfigMap holds a MiB in all, and a list of pools may alone be longer. So long values are compressed, into binaryData.
const (
	compressedFrom    = 32 << 10
	maxConfigMapBytes = 1 << 20
)

// encodeData puts values and a history into a ConfigMap.
func encodeData(object *unstructured.Unstructured, values map[string]string, history []Entry) error {
	text, err := formatHistory(history)
	if err != nil {
		return err
	}
	data, compressed := map[string]any{historyKey: text}, map[string]any{}
	size, largest := len(text), ""
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		if len(value) < compressedFrom {
			data[name] = value
			size += len(name) + len(value)
			continue
		}
		packed, err := pack(value)
		if err != nil {
			return err
		}
		compressed[name] = packed
		size += len(name) + base64.StdEncoding.DecodedLen(len(packed))
		if largest == "" || len(value) > len(values[largest]) {
			largest = name
		}
	}
	if size > maxConfigMapBytes {
		return fmt.Errorf("the parameters have %d bytes, and a ConfigMap holds %d; the longest is %s with %d, make it shorter", size, maxConfigMapBytes, largest, len(values[largest]))
	}
	object.Object["data"] = data
	delete(object.Object, "binaryData")
	if len(compressed) > 0 {
		object.Object["binaryData"] = compressed
	}
	return nil
}

// decodeData takes values and history out of a ConfigMap. Its errors are what is wrong with that.
func decodeData(object *unstructured.Unstructured) (map[string]string, []Entry, error) {
	values, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		return nil, nil, errors.New("its data is not a map of strings")
	}
	if values == nil {
		values = map[string]string{}
	}
	history := parseHistory(values[historyKey])
	delete(values, historyKey)
	compressed, _, err := unstructured.NestedStringMap(object.Object, "binaryData")
	if err != nil {
		return nil, nil, errors.New("its binaryData is not a map of strings")
	}
	for name, packed := range compressed {
		if values[name], err = unpack(packed); err != nil {
			return nil, nil, fmt.Errorf("the binaryData of %s is not what was written", shape.Quote(name))
		}
	}
	return values, history, nil
}

func pack(value string) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.WriteString(w, value)
	if err := errors.Join(err, w.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

func unpack(packed string) (string, error) {
	data, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	value, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err == nil && len(value) > maxFileBytes {
		err = errors.New("it is too long")
	}
	return string(value), err
}

// parseHistory reads the entries, a line each. What is none is passed over: it is told to people, and nothing hangs on it.
func parseHistory(text string) []Entry {
	var entries []Entry
	for line := range strings.Lines(text) {
		var entry Entry
		if json.Unmarshal([]byte(line), &entry) == nil && entry.ID != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// formatHistory writes the newest entries, as many as are kept.
func formatHistory(entries []Entry) (string, error) {
	var lines []string
	size := 0
	for _, entry := range slices.Backward(entries) {
		line, err := json.Marshal(entry)
		if err != nil {
			return "", err
		}
		if size += len(line) + 1; len(lines) == maxClusterEntries || len(lines) > 0 && size > maxClusterHistory {
			break
		}
		lines = append(lines, string(line)+"\n")
	}
	slices.Reverse(lines)
	return strings.Join(lines, ""), nil
}
