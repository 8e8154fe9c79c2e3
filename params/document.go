package params

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
)

// ReadFile reads the file of a parameter whose value is the path of a .json file. It returns an error for a file of more
// than limit bytes.
type ReadFile func(path string, limit int) ([]byte, error)

// document takes JSON: as it is, as base64, or as the path of a .json file. It is stored as base64 of compact JSON.
type document struct {
	accepts string
	limit   int
	// cleared is what stands for an empty value.
	cleared string
	schema  func(v nodepool.Version) *shape.Schema
}

// The most that a file of a JSON parameter may hold, in bytes.
const (
	maxConfigBytes = 64 << 10
	maxListBytes   = 1 << 20
)

func (d document) Accepts() string {
	return d.accepts + ", as JSON, as base64 of JSON, or as the path of a .json file"
}

func (d document) check(p *Parameter, text string, in context) (string, []string) {
	problem := func(format string, args ...any) (string, []string) {
		return "", []string{p.Name + ": " + fmt.Sprintf(format, args...)}
	}
	data, err := d.read(text, in.readFile)
	if err != nil {
		return problem("%s", err)
	}
	if len(data) > d.limit {
		return problem("the JSON has %d bytes; %d at most are taken", len(data), d.limit)
	}
	node, err := shape.ParseJSON(data)
	if err != nil {
		return problem("%s", err)
	}
	var problems []string
	for _, found := range shape.Check(d.schema(in.karpenter), node, "") {
		at := found.Path
		if at != "" {
			at += ": "
		}
		problems = append(problems, fmt.Sprintf("%s: %s%s", p.Name, at, found.Message))
	}
	if problems != nil {
		return "", problems
	}
	return encodeDocument(data), nil
}

// read returns the JSON that text stands for.
func (d document) read(text string, readFile ReadFile) ([]byte, error) {
	if namesFile(text) {
		if readFile == nil {
			return nil, fmt.Errorf("%s is the path of a file; write JSON or base64 of JSON", shape.Quote(text))
		}
		data, err := readFile(text, d.limit)
		return bytes.TrimPrefix(data, []byte("\ufeff")), err
	}
	// Base64 takes a third more room than what it holds.
	if most := d.limit/3*4 + 1024; len(text) > most {
		return nil, fmt.Errorf("the value has %d bytes; %d at most are taken", len(text), most)
	}
	return decodeDocument(text)
}

// namesFile reports whether the value of a JSON parameter is the path of a file.
func namesFile(text string) bool { return strings.HasSuffix(text, ".json") && !isRawJSON(text) }

// Files returns the paths of the files that the values of a change name.
func (c Change) Files() []string {
	var paths []string
	for name, value := range c.Set {
		if p := Find(name); p != nil && p.Type == JSON && namesFile(value) {
			paths = append(paths, value)
		}
	}
	return paths
}

// MaxFileBytes is the most that a file which a value names may hold.
const MaxFileBytes = maxListBytes

func isRawJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
}

// decodeDocument returns the JSON behind a stored value, which may be base64 or, from older tools, JSON itself.
func decodeDocument(text string) ([]byte, error) {
	if isRawJSON(text) || json.Valid([]byte(text)) {
		return []byte(text), nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		data, err = base64.RawStdEncoding.DecodeString(text)
	}
	if err != nil || !json.Valid(data) {
		return nil, errors.New("it is neither JSON, nor base64 of JSON, nor the path of a .json file: " + shape.Quote(text))
	}
	return data, nil
}

// encodeDocument returns JSON as it is stored: compact and in base64.
func encodeDocument(data []byte) string {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		panic(fmt.Sprintf("encoding JSON that was checked: %v", err))
	}
	return base64.StdEncoding.EncodeToString(compact.Bytes())
}

// parseDocument decodes a stored value into v. An empty value leaves v as it is.
func parseDocument(stored string, v any) error {
	if stored == "" {
		return nil
	}
	data, err := decodeDocument(stored)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}
