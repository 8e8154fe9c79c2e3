// Package shape says what a JSON or YAML value must look like and reports every departure from it with its place.
//
// It exists because several rooms of this program need the same thing: a rack parameter that holds JSON must be refused
// with the path of what is wrong in it, and a NodePool file with the line and column. Both describe the value by a
// Schema and walk a yaml.Node, which keeps places; ParseJSON makes such a node from JSON.
package shape

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Kind is the kind of value that a Schema takes.
type Kind int

// The kinds of value. Any takes every value, and nothing below it is looked at.
const (
	Any Kind = iota
	Object
	Map
	List
	String
	Int
	Bool
	IntOrString
	// Words are words separated by commas in a string, or a list of strings; Check gets them separated by commas.
	Words
)

var kindNames = map[Kind]string{
	Object: "an object", Map: "an object", List: "a list", String: "a string",
	Int: "a whole number", Bool: "true or false", IntOrString: "a number or a string",
	Words: "a string of words separated by commas",
}

// Schema says what a value must look like.
type Schema struct {
	Kind Kind

	// Rule names the rule that a departure at this value breaks. Where it is empty, the enclosing Schema's holds.
	Rule string

	// Fields are the keys of an Object, in the order of the documentation. Other keys are departures, unless it is Open.
	Fields []Field
	Open   bool

	// Items is what the elements of a List or the values of a Map look like.
	Items *Schema

	// Key says what is wrong with a key of a Map, or "".
	Key func(key string) string

	// MinItems and MaxItems bound the length of a List or Map; MaxItems 0 means no bound.
	MinItems, MaxItems int

	// Null lets null stand for an absent value.
	Null bool

	// Check says what is wrong with a scalar's text, or "".
	Check func(text string) string

	// Whole holds the rules that take more than one part of the value. It must bear parts that are missing or of the
	// wrong kind; at a scalar it is asked only when Check finds nothing.
	Whole func(node *yaml.Node, report Report)
}

// Report takes a departure found at node, a part of the value at hand. below is where it stands below that value: "" for
// the value itself, ".key" or "[2]" below it. An empty rule stands for the Schema's own.
type Report func(node *yaml.Node, below, rule, message string)

// Field is one key of an Object.
type Field struct {
	Name     string
	Schema   *Schema
	Required bool

	// Forbidden, where it is not empty, says why the key may not be given.
	Forbidden string
}

// UnknownField is the rule of a key that no Schema names.
const UnknownField = "unknown-field"

// Problem is one departure from a Schema.
type Problem struct {
	// Path leads to the value from the top, such as "nodePool.disruption.budgets[1].nodes"; empty at the top itself.
	Path string

	// Rule is the name that the Schema gives the rule.
	Rule string

	// Message says what is wrong and what to write instead, without the path.
	Message string

	// Line and Column are where the value, or the unknown key, begins, counted from 1.
	Line, Column int
}

// Check returns all departures of node from s, in the order of the document; path is that of node itself. A whole number
// is one that is written as such.
func Check(s *Schema, node *yaml.Node, path string) []Problem {
	c := checker{}
	c.check(s, node, path, s.Rule)
	return c.problems
}

// CheckObject is Check for an object on its way to the Kubernetes API server, which takes a number for whole however YAML
// spells it: 1.0, 0x1 and 1e0 are 1.
func CheckObject(s *Schema, node *yaml.Node, path string) []Problem {
	c := checker{anySpelling: true}
	c.check(s, node, path, s.Rule)
	return c.problems
}

type checker struct {
	problems    []Problem
	anySpelling bool
}

// number returns a scalar as whole numbers are written, where it is one in another spelling.
func (c *checker) number(s *Schema, node *yaml.Node) *yaml.Node {
	tag := node.ShortTag()
	if !c.anySpelling || s.Kind != Int && s.Kind != IntOrString || tag != "!!int" && tag != "!!float" {
		return node
	}
	respelled := *node
	plain := strings.ReplaceAll(node.Value, "_", "")
	n, err := strconv.ParseInt(plain, 0, 64)
	if f, errFloat := strconv.ParseFloat(plain, 64); err != nil && errFloat == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53 && tag == "!!float" {
		n, err = int64(f), nil
	}
	respelled.Tag = "!!int"
	respelled.Value = strconv.FormatInt(n, 10)
	if err != nil {
		// Past 64 bits the API server has no whole numbers.
		respelled.Tag, respelled.Value = "!!float", node.Value
	}
	return &respelled
}

// maxProblems is how many departures are reported of one value. Aliases let a small document hold any number of them.
const maxProblems = 1000

func (c *checker) report(node *yaml.Node, path, rule, message string) {
	if len(c.problems) == maxProblems {
		return
	}
	c.problems = append(c.problems, Problem{Path: path, Rule: rule, Message: message, Line: node.Line, Column: node.Column})
}

func (c *checker) check(s *Schema, node *yaml.Node, path, rule string) {
	node = Resolve(node)
	rule = cmp.Or(s.Rule, rule)
	if s.Kind == Any || s.Null && IsNull(node) {
		return
	}
	node = c.number(s, node)
	if !s.takes(node) {
		c.report(node, path, rule, fmt.Sprintf("%s is not %s", Describe(node), kindNames[s.Kind]))
		return
	}
	switch s.Kind {
	case Object:
		c.checkObject(s, node, path, rule)
	case Map:
		list := Entries(node)
		c.checkLength(s, len(list), node, path, rule)
		for _, entry := range list {
			at := Join(path, entry.Key.Value)
			if s.Key != nil {
				if message := s.Key(entry.Key.Value); message != "" {
					c.report(entry.Key, at, rule, message)
				}
			}
			c.check(s.Items, entry.Value, at, rule)
		}
	case List:
		if c.checkLength(s, len(node.Content), node, path, rule); s.MaxItems > 0 && len(node.Content) > s.MaxItems {
			return
		}
		for i, item := range node.Content {
			if len(c.problems) == maxProblems {
				break
			}
			c.check(s.Items, item, path+"["+strconv.Itoa(i)+"]", rule)
		}
	default:
		if s.Check != nil {
			if message := s.Check(scalarText(node)); message != "" {
				c.report(node, path, rule, message)
				return
			}
		}
	}
	if s.Whole != nil {
		s.Whole(node, func(at *yaml.Node, below, broken, message string) {
			if path == "" {
				below = strings.TrimPrefix(below, ".")
			}
			c.report(at, path+below, cmp.Or(broken, rule), message)
		})
	}
}

// scalarText is the text of a scalar, and of Words.
func scalarText(node *yaml.Node) string {
	if node.Kind != yaml.SequenceNode {
		return node.Value
	}
	items := make([]string, len(node.Content))
	for i, item := range node.Content {
		items[i] = Resolve(item).Value
	}
	return strings.Join(items, ",")
}

func (c *checker) checkObject(s *Schema, node *yaml.Node, path, rule string) {
	seen := map[string]bool{}
	for _, entry := range Entries(node) {
		key := entry.Key
		at := Join(path, key.Value)
		field := s.field(key.Value)
		switch {
		case field == nil && s.Open:
		case field == nil:
			c.report(key, at, UnknownField, unknownKey(key.Value, s.names()))
		case seen[key.Value]:
			c.report(key, at, UnknownField, fmt.Sprintf("the key %s stands twice, and only one of the two is kept; write it once", Quote(key.Value)))
		case field.Forbidden != "":
			c.report(key, at, rule, field.Forbidden)
		default:
			c.check(field.Schema, entry.Value, at, rule)
		}
		seen[key.Value] = true
	}
	for _, field := range s.Fields {
		if field.Required && !seen[field.Name] {
			c.report(node, Join(path, field.Name), cmp.Or(field.Schema.Rule, rule), fmt.Sprintf("%q is required", field.Name))
		}
	}
}

func (c *checker) checkLength(s *Schema, length int, node *yaml.Node, path, rule string) {
	if length < s.MinItems {
		c.report(node, path, rule, fmt.Sprintf("it has %d entries; write at least %d", length, s.MinItems))
	}
	if s.MaxItems > 0 && length > s.MaxItems {
		c.report(node, path, rule, fmt.Sprintf("it has %d entries, %d at most are taken", length, s.MaxItems))
	}
}

func (s *Schema) field(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// names are the keys that may be given.
func (s *Schema) names() []string {
	var names []string
	for _, field := range s.Fields {
		if field.Forbidden == "" {
			names = append(names, field.Name)
		}
	}
	return names
}

func (s *Schema) takes(node *yaml.Node) bool {
	switch s.Kind {
	case Object, Map:
		return node.Kind == yaml.MappingNode
	case List:
		return node.Kind == yaml.SequenceNode
	case String:
		return node.ShortTag() == "!!str"
	case Int:
		return node.ShortTag() == "!!int"
	case Bool:
		return node.ShortTag() == "!!bool"
	case Words:
		return node.ShortTag() == "!!str" || node.Kind == yaml.SequenceNode && !slices.ContainsFunc(node.Content, func(item *yaml.Node) bool {
			return Resolve(item).ShortTag() != "!!str"
		})
	case IntOrString:
		return node.ShortTag() == "!!int" || node.ShortTag() == "!!str"
	}
	return true
}

// Entry is a key of a mapping and its value.
type Entry struct{ Key, Value *yaml.Node }

// Entries returns the entries of a mapping node, those of its YAML merge keys ("<<") behind its own. A key that stands
// in both has its own value.
func Entries(node *yaml.Node) []Entry {
	node = Resolve(node)
	if node.Kind != yaml.MappingNode {
		return nil
	}
	list := make([]Entry, 0, len(node.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Tag == mergeTag {
			merged = append(merged, node.Content[i+1])
			continue
		}
		list = append(list, Entry{Resolve(node.Content[i]), node.Content[i+1]})
	}
	if merged == nil {
		return list
	}
	m := merger{list: list, seen: map[string]bool{}, left: maxMerged}
	for _, entry := range list {
		m.seen[entry.Key.Value] = true
	}
	for _, from := range merged {
		m.merge(from)
	}
	return m.list
}

// mergeTag is the tag that the YAML parser gives a merge key.
const mergeTag = "!!merge"

// maxMerged is how many entries are looked at behind merge keys. Aliases let a small document hold any number of them.
const maxMerged = 1000

// merger gathers what merge keys bring in.
type merger struct {
	list []Entry
	seen map[string]bool
	left int
}

func (m *merger) merge(from *yaml.Node) {
	from = Resolve(from)
	switch from.Kind {
	case yaml.SequenceNode:
		for _, item := range from.Content {
			if m.left--; m.left < 0 {
				return
			}
			m.merge(item)
		}
	case yaml.MappingNode:
		var deeper []*yaml.Node
		for i := 0; i+1 < len(from.Content); i += 2 {
			if m.left--; m.left < 0 {
				return
			}
			key, value := Resolve(from.Content[i]), from.Content[i+1]
			switch {
			case key.Tag == mergeTag:
				deeper = append(deeper, value)
			case !m.seen[key.Value]:
				m.seen[key.Value] = true
				m.list = append(m.list, Entry{key, value})
			}
		}
		for _, item := range deeper {
			m.merge(item)
		}
	}
}

// Resolve follows an alias to the node that it stands for.
func Resolve(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// Get returns the value of key in the mapping node, or nil where there is none.
func Get(node *yaml.Node, key string) *yaml.Node {
	node = Resolve(node)
	if node.Kind != yaml.MappingNode {
		return nil
	}
	merges := false
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return Resolve(node.Content[i+1])
		}
		merges = merges || node.Content[i].Tag == mergeTag
	}
	if merges {
		for _, entry := range Entries(node) {
			if entry.Key.Value == key {
				return Resolve(entry.Value)
			}
		}
	}
	return nil
}

// IsNull reports whether a node is null.
func IsNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }

// Given returns the value of key in the mapping node, or nil where there is none or it is null.
func Given(node *yaml.Node, key string) *yaml.Node {
	value := Get(node, key)
	if value == nil || IsNull(value) {
		return nil
	}
	return value
}

// Text returns the text of the string at key in the mapping node, or "" where there is none.
func Text(node *yaml.Node, key string) string {
	value := Get(node, key)
	if value == nil || value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
		return ""
	}
	return value.Value
}

// Join puts key behind path, in the notation that people use for paths: "a.b", and `a["x/y.z"]` for a key that holds
// more than letters, digits and dashes.
func Join(path, key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	switch {
	case !plain:
		return path + "[" + strconv.Quote(Shorten(key)) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// Describe names a value for a message: scalars with their text, shortened, and the others by their kind.
func Describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch node.ShortTag() {
	case "!!str":
		return "the string " + Quote(node.Value)
	case "!!null":
		return "null"
	case "!!bool":
		return Shorten(node.Value)
	}
	return "the number " + Shorten(node.Value)
}

// Quote quotes text for a message: control characters escaped, and shortened.
func Quote(text string) string { return strconv.Quote(Shorten(text)) }

// Shorten cuts text that is too long to read in a message.
func Shorten(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// OneOf returns a Check that takes the words, and suggests the nearest one.
func OneOf(words ...string) func(string) string {
	return func(text string) string {
		if slices.Contains(words, text) {
			return ""
		}
		return fmt.Sprintf("%s is not one of %s%s", Quote(text), strings.Join(words, ", "), DidYouMean(text, words))
	}
}

func unknownKey(key string, known []string) string {
	message := fmt.Sprintf("unknown key %s", Quote(key))
	if hint := DidYouMean(key, known); hint != "" {
		return message + hint
	}
	if len(known) > 0 {
		return message + "; the keys are " + strings.Join(known, ", ")
	}
	return message
}
