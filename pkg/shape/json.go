package shape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// ParseJSON reads one JSON value into a node that keeps the place of each part. It is strict where encoding/json is
// not: text that is not UTF-8, a key that stands twice in an object, and anything behind the value are errors.
func ParseJSON(data []byte) (*yaml.Node, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not UTF-8 text")
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, describeJSONError(data, err)
	}
	r := jsonReader{data: data, decoder: json.NewDecoder(bytes.NewReader(data)), line: 1, column: 1}
	r.decoder.UseNumber()
	return r.value()
}

func describeJSONError(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("it is not JSON: %w", err)
	}
	line, column := 1, 1
	for _, b := range data[:max(syntax.Offset-1, 0)] {
		column++
		if b == '\n' {
			line, column = line+1, 1
		}
	}
	return fmt.Errorf("it is not JSON: %w at line %d, column %d", err, line, column)
}

// jsonReader turns the tokens of sound JSON into nodes. line and column, which counts characters, follow offset through
// the data.
type jsonReader struct {
	data         []byte
	decoder      *json.Decoder
	offset       int
	line, column int
}

// token returns the next token and a node that stands where the token begins.
func (r *jsonReader) token() (json.Token, *yaml.Node, error) {
	before := int(r.decoder.InputOffset())
	token, err := r.decoder.Token()
	if err != nil {
		return nil, nil, err
	}
	start := before
	for bytes.IndexByte([]byte(" \t\r\n,:"), r.data[start]) >= 0 {
		start++
	}
	for ; r.offset < start; r.offset++ {
		switch b := r.data[r.offset]; {
		case b == '\n':
			r.line++
			r.column = 1
		case utf8.RuneStart(b):
			r.column++
		}
	}
	return token, &yaml.Node{Line: r.line, Column: r.column}, nil
}

func (r *jsonReader) value() (*yaml.Node, error) {
	token, node, err := r.token()
	if err != nil {
		return nil, err
	}
	node.Kind = yaml.ScalarNode
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return node, r.object(node)
		}
		return node, r.list(node)
	case string:
		node.Tag, node.Value, node.Style = "!!str", token, yaml.DoubleQuotedStyle
	case json.Number:
		node.Tag, node.Value = "!!int", token.String()
		if strings.ContainsAny(node.Value, ".eE") {
			node.Tag = "!!float"
		}
	case bool:
		node.Tag, node.Value = "!!bool", fmt.Sprint(token)
	case nil:
		node.Tag, node.Value = "!!null", "null"
	}
	return node, nil
}

func (r *jsonReader) object(node *yaml.Node) error {
	node.Kind, node.Tag = yaml.MappingNode, "!!map"
	seen := map[string]bool{}
	for r.decoder.More() {
		token, key, err := r.token()
		if err != nil {
			return err
		}
		key.Kind, key.Tag, key.Value = yaml.ScalarNode, "!!str", token.(string)
		if seen[key.Value] {
			return fmt.Errorf("the key %s stands twice, again at line %d, column %d", Quote(key.Value), key.Line, key.Column)
		}
		seen[key.Value] = true
		value, err := r.value()
		if err != nil {
			return err
		}
		node.Content = append(node.Content, key, value)
	}
	_, _, err := r.token()
	return err
}

func (r *jsonReader) list(node *yaml.Node) error {
	node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
	for r.decoder.More() {
		value, err := r.value()
		if err != nil {
			return err
		}
		node.Content = append(node.Content, value)
	}
	_, _, err := r.token()
	return err
}
