package nodepool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

// Manifest is a NodePool as it is written in a document, with the places of its parts.
type Manifest struct {
	// File is the name of what it was read from, for messages.
	File string
	// Name is its metadata.name, which may be empty.
	Name string

	node       *yaml.Node
	apiVersion string
}

// Served reports whether Karpenter serves NodePools at the API version of the manifest.
func (m *Manifest) Served() bool { return m.apiVersion == APIVersion }

// ReadError says that a document could not be read, and where.
type ReadError struct {
	File         string
	Line, Column int // counted from 1; Column is 0 where it is not known
	Message      string
}

func (e *ReadError) Error() string {
	if e.Column > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// The most that one document may hold. The API server takes objects of a MiB and a half; a List may hold many.
const (
	maxDocumentBytes = 16 << 20
	maxDocumentParts = 1_000_000 // lines, commas and brackets: each may begin a node
)

// Manifests reads the NodePools of a stream of YAML or JSON documents, those in a List among them, and passes over what
// is of another kind. A document that cannot be read is a *ReadError, and the stream goes on behind it; any other error
// ends it. Only one document is in memory at a time.
func Manifests(r io.Reader, file string) iter.Seq2[*Manifest, error] {
	return func(yield func(*Manifest, error) bool) {
		documents := documentReader{reader: bufio.NewReaderSize(r, 64<<10), line: 1}
		for {
			text, line, err := documents.next()
			if err == io.EOF {
				return
			}
			var readError *ReadError
			if errors.As(err, &readError) {
				readError.File = file
			}
			if err != nil {
				if !yield(nil, err) || readError == nil {
					return
				}
				continue
			}
			nodes, err := parseDocument(text)
			if errors.As(err, &readError) {
				readError.File = file
				readError.Line += line - 1
			}
			if err != nil && !yield(nil, err) {
				return
			}
			for _, node := range nodes {
				shiftLines(node, line-1)
				for _, manifest := range nodePools(node, "", "") {
					manifest.File = file
					if !yield(manifest, nil) {
						return
					}
				}
			}
		}
	}
}

// documentReader splits a stream into documents at the lines that begin with "---" or "...". YAML reserves them for
// that in any place, and JSON cannot hold them; so one broken document does not hide the next.
type documentReader struct {
	reader *bufio.Reader
	line   int    // of what is read next
	marker []byte // the line that ended the document before, which begins the next one
	done   bool
}

// next returns the next document and the line on which it begins.
func (d *documentReader) next() ([]byte, int, error) {
	if d.done && d.marker == nil {
		return nil, 0, io.EOF
	}
	first := d.line
	text := d.marker
	if len(d.marker) > 0 {
		first--
	}
	d.marker = nil
	tooLong := false
	lineStart := true
	for !d.done {
		piece, err := d.reader.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull && err != io.EOF {
			return nil, 0, err
		}
		d.done = err == io.EOF
		if lineStart && isMarker(piece) {
			d.line++
			d.marker = []byte{}
			// A document may stand on the line of the marker that begins it; the other marker ends one and says no more.
			if piece[0] == '-' {
				d.marker = bytes.Clone(piece)
			}
			break
		}
		if tooLong = tooLong || len(text)+len(piece) > maxDocumentBytes; !tooLong {
			text = append(text, piece...)
		}
		lineStart = err == nil
		if lineStart {
			d.line++
		}
	}
	if tooLong {
		return nil, 0, &ReadError{Line: first, Message: fmt.Sprintf("the document is longer than the %d MiB that are read", maxDocumentBytes>>20)}
	}
	parts := 0
	for _, b := range []byte("\n,[{") {
		parts += bytes.Count(text, []byte{b})
	}
	if parts > maxDocumentParts {
		return nil, 0, &ReadError{Line: first, Message: fmt.Sprintf("the document has more than the %d parts that are read", maxDocumentParts)}
	}
	return text, first, nil
}

func isMarker(line []byte) bool {
	for _, marker := range []string{"---", "..."} {
		if rest, found := bytes.CutPrefix(line, []byte(marker)); found && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0) {
			return true
		}
	}
	return false
}

// parseDocument returns the values in a document: one, or several where JSON stands behind JSON. The values before an
// error are returned with it.
func parseDocument(text []byte) (nodes []*yaml.Node, err error) {
	// The YAML parser is known to panic on some of what is not YAML.
	defer func() {
		if p := recover(); p != nil {
			err = &ReadError{Line: 1, Message: fmt.Sprintf("it cannot be read: %v", p)}
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, &ReadError{Line: 1 + bytes.Count(validPrefix(text), []byte{'\n'}), Message: "it is not UTF-8 text"}
	}
	if isBlank(text) {
		return nil, nil
	}
	// JSON is read as JSON, since YAML is not quite a superset of it; but YAML has a form that looks like JSON.
	marker := 0
	if line, rest, found := bytes.Cut(text, []byte{'\n'}); found && string(bytes.TrimSpace(line)) == "---" {
		text, marker = rest, 1
	}
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); trimmed[0] == '{' || trimmed[0] == '[' {
		if nodes, err := parseJSONValues(text); err == nil {
			for _, node := range nodes {
				shiftLines(node, marker)
			}
			return nodes, nil
		}
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		readError := yamlError(text, err)
		readError.Line += marker
		return nil, readError
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	shiftLines(document.Content[0], marker)
	return []*yaml.Node{document.Content[0]}, nil
}

// validPrefix is the text up to the first byte that is not UTF-8.
func validPrefix(text []byte) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return text[:i]
		}
		i += size
	}
	return text
}

// isBlank reports whether a document holds nothing but blank lines, comments, directives and markers.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' && string(line) != "---" && string(line) != "..." {
			return false
		}
	}
	return true
}

func parseJSONValues(text []byte) ([]*yaml.Node, error) {
	if node, err := shape.ParseJSON(text); err == nil {
		return []*yaml.Node{node}, nil
	}
	var nodes []*yaml.Node
	decoder := json.NewDecoder(bytes.NewReader(text))
	counted, lines, columns := 0, 0, 0 // lines, and columns on the last of them, before the value
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err == io.EOF {
			return nodes, nil
		} else if err != nil {
			return nil, err
		}
		node, err := shape.ParseJSON(raw)
		if err != nil {
			return nil, err
		}
		start := int(decoder.InputOffset()) - len(raw)
		between := text[counted:start]
		if newline := bytes.LastIndexByte(between, '\n'); newline >= 0 {
			lines += bytes.Count(between, []byte{'\n'})
			between, columns = between[newline+1:], 0
		}
		columns += utf8.RuneCount(between)
		counted = start
		shiftColumns(node, columns)
		shiftLines(node, lines)
		nodes = append(nodes, node)
	}
}

var yamlErrorLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:unmarshal errors:\n *)?(?:line (\d+): )?`) })

// yamlError takes the line out of an error of the YAML parser, and says so where the text is a template.
func yamlError(text []byte, err error) *ReadError {
	message := err.Error()
	match := yamlErrorLine().FindStringSubmatch(message)
	line := 1
	if n, err := strconv.Atoi(match[1]); err == nil {
		line = n
	}
	message = "it is not YAML: " + strings.ReplaceAll(message[len(match[0]):], "\n", " ")
	if bytes.Contains(text, []byte("{{")) {
		message += "; it looks like a Helm template: render it first, with `helm template`"
	}
	return &ReadError{Line: line, Message: message}
}

// nodePools returns the NodePools in a value: itself, or the items of a List.
func nodePools(node *yaml.Node, listVersion, listKind string) []*Manifest {
	node = shape.Resolve(node)
	if node.Kind != yaml.MappingNode {
		return nil
	}
	kind, apiVersion := shape.Text(node, "kind"), shape.Text(node, "apiVersion")
	// The items of a typed list may leave out what the list says.
	if kind == "" && listKind == KindName+"List" {
		kind = KindName
	}
	if apiVersion == "" && kind == KindName {
		apiVersion = listVersion
	}
	switch {
	case kind == KindName && (apiVersion == "" || apiVersion == Group || strings.HasPrefix(apiVersion, Group+"/")):
		metadata := shape.Get(node, "metadata")
		manifest := &Manifest{node: node, apiVersion: apiVersion}
		if metadata != nil {
			manifest.Name = shape.Text(metadata, "name")
		}
		return []*Manifest{manifest}
	case (kind == "List" || kind == KindName+"List") && listKind == "":
		var manifests []*Manifest
		if items := shape.Get(node, "items"); items != nil && items.Kind == yaml.SequenceNode {
			for _, item := range items.Content {
				manifests = append(manifests, nodePools(item, apiVersion, kind)...)
			}
		}
		return manifests
	}
	return nil
}

// shiftColumns moves what stands on the first line of a value right by a number of characters.
func shiftColumns(node *yaml.Node, columns int) {
	if columns == 0 || node.Line > 1 {
		return
	}
	node.Column += columns
	for _, child := range node.Content {
		shiftColumns(child, columns)
	}
}

// shiftLines moves a value down by a number of lines.
func shiftLines(node *yaml.Node, lines int) {
	if lines == 0 {
		return
	}
	node.Line += lines
	for _, child := range node.Content {
		shiftLines(child, lines)
	}
}
