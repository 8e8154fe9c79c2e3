package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"rackparams/params"
	"rackparams/pkg/shape"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// checkAssignments checks, before any work, that the arguments from the first on are written as Key=Value.
func checkAssignments(first int) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		var wrong []string
		for _, arg := range args[min(first, len(args)):] {
			if name, _, found := strings.Cut(arg, "="); !found || name == "" {
				wrong = append(wrong, shape.Quote(arg))
			}
		}
		if wrong != nil {
			return fmt.Errorf("%s: write a parameter and its value as Key=Value", strings.Join(wrong, ", "))
		}
		return nil
	}
}

// assignments reads arguments that checkAssignments has passed. A name may stand once.
func assignments(args []string) (map[string]string, error) {
	set := map[string]string{}
	var problems params.Problems
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if _, twice := set[name]; twice {
			problems = append(problems, params.Problem{Text: fmt.Sprintf("%s is given twice; give it once", name)})
		}
		set[name] = value
	}
	if problems != nil {
		return nil, problems
	}
	return set, nil
}

// maxInputBytes is how long the file of --file may be.
const maxInputBytes = 4 << 20

// fileAssignments reads the map of parameters in the file of --file; "-" is stdin.
func (a *app) fileAssignments(path string) (map[string]string, error) {
	var data []byte
	var err error
	if path == "-" {
		data, err = readAtMost(a.In, maxInputBytes)
	} else {
		data, err = readFile(path, maxInputBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("--file: %w", err)
	}
	set, problems := parseAssignments(data)
	if problems == nil {
		return set, nil
	}
	var all params.Problems
	for _, problem := range problems {
		all = append(all, params.Problem{Text: fmt.Sprintf("--file %s: %s", path, problem)})
	}
	return nil, all
}

// parseAssignments reads a JSON or YAML map of parameters. Values are taken as they are written: the YAML 010 is the
// text 010, and no number. Objects and lists are the values of JSON parameters.
func parseAssignments(data []byte) (map[string]string, []string) {
	var document yaml.Node
	// JSON is read as JSON, since YAML is almost but not quite a superset of it.
	if node, err := shape.ParseJSON(data); err == nil {
		document = *node
	} else {
		decoder := yaml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nil, []string{"it is empty; write a map of parameters and values"}
		} else if err != nil {
			return nil, []string{"it is neither JSON nor YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
		}
		if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
			return nil, []string{"it holds several documents; write one map of parameters and values"}
		}
		document = *document.Content[0]
	}
	if document.Kind != yaml.MappingNode {
		return nil, []string{fmt.Sprintf("it holds %s where a map of parameters and values belongs", shape.Describe(&document))}
	}
	set := map[string]string{}
	var problems []string
	for i := 0; i < len(document.Content); i += 2 {
		key, value := document.Content[i], shape.Resolve(document.Content[i+1])
		text, problem := assignedText(value)
		if p := params.Find(key.Value); problem == "" && value.Kind != yaml.ScalarNode && p != nil && p.Type != params.JSON {
			problem = "it takes no list or map; write its value as text"
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" || key.Value == "" {
			problem = "it is not the name of a parameter; write one"
		}
		if _, twice := set[key.Value]; twice {
			problem = "it is given twice; give it once"
		}
		if problem != "" {
			problems = append(problems, fmt.Sprintf("line %d: %s: %s", key.Line, shape.Quote(key.Value), problem))
		}
		set[key.Value] = text
	}
	return set, problems
}

func assignedText(value *yaml.Node) (text, problem string) {
	switch {
	case value.Kind != yaml.ScalarNode:
		var decoded any
		timesAsText(value)
		if err := value.Decode(&decoded); err != nil {
			return "", strings.TrimPrefix(err.Error(), "yaml: ")
		}
		data, err := json.Marshal(decoded)
		if err != nil {
			return "", "it cannot be written as JSON: the keys of its objects must be strings"
		}
		return string(data), ""
	case value.ShortTag() == "!!null":
		return "", `it has no value; write "" to clear the parameter, or unset it with a command of its own`
	}
	return value.Value, ""
}

// timesAsText keeps what looks like a time as the text that it is.
func timesAsText(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!timestamp" {
		node.Tag = "!!str"
	}
	for _, child := range node.Content {
		timesAsText(child)
	}
}

// readAhead reads the files that parameters name, and returns what hands them on.
func readAhead(paths []string) params.ReadFile {
	type result struct {
		data []byte
		err  error
	}
	results := map[string]result{}
	for _, path := range paths {
		var r result
		r.data, r.err = readRegularFile(path, params.MaxFileBytes)
		results[path] = r
	}
	return func(path string, _ int) ([]byte, error) { return results[path].data, results[path].err }
}

// readRegularFile reads a file that is neither a pipe nor a device, from which one could wait for ever.
func readRegularFile(path string, limit int) ([]byte, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("reading %s: it is not a regular file; name one", shape.Quote(path))
	}
	return readFile(path, limit)
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int) ([]byte, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := readAtMost(file, limit)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", shape.Quote(path), cause(err))
	}
	return data, nil
}

// openFile opens a file for reading, and no folder.
func openFile(path string) (*os.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", shape.Quote(path), cause(err))
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return nil, fmt.Errorf("reading %s: it is a folder; name a file", shape.Quote(path))
	}
	return file, nil
}

func readAtMost(r io.Reader, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("it is longer than the %d bytes that are read", limit)
	}
	return data, err
}

// cause strips the operation and the path, which the messages here give themselves.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}

// sorted returns problems in the order of what they name.
func sorted(problems params.Problems) params.Problems {
	slices.SortFunc(problems, func(a, b params.Problem) int { return strings.Compare(a.Text, b.Text) })
	return problems
}

// printWarnings prints what there is to know about a change that passed.
func (a *app) printWarnings(outcome params.Outcome) {
	a.warn(outcome.Warnings...)
	if outcome.ArmsWindow {
		a.warnOfExpiry()
	}
}
