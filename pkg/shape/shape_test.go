package shape

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

var example = &Schema{Kind: Object, Rule: "top", Fields: []Field{
	{Name: "name", Schema: &Schema{Kind: String, Rule: "named"}, Required: true},
	{Name: "count", Schema: &Schema{Kind: Int}},
	{Name: "on", Schema: &Schema{Kind: Bool}},
	{Name: "any", Schema: &Schema{}},
	{Name: "words", Schema: &Schema{Kind: Words, Check: OneOf("a,b", "a")}},
	{Name: "amount", Schema: &Schema{Kind: IntOrString}},
	{Name: "own", Forbidden: "it is ours"},
	{Name: "list", Schema: &Schema{Kind: List, MinItems: 1, MaxItems: 2, Items: &Schema{Kind: String, Check: OneOf("x", "yes")}}},
	{Name: "map", Schema: &Schema{Kind: Map, MaxItems: 1, Items: &Schema{Kind: String}, Key: OneOf("a.b/c")}},
	{Name: "pair", Schema: &Schema{Kind: Object, Fields: []Field{{Name: "a", Schema: &Schema{}}, {Name: "b", Schema: &Schema{}}},
		Whole: func(node *yaml.Node, report Report) {
			if Get(node, "b") == nil {
				report(node, ".b", "paired", "b is missing")
			}
		}}},
}}

func TestCheck(t *testing.T) {
	for text, want := range map[string][]string{
		`{"name":"a","count":1,"on":true,"any":{"x":null},"words":["a","b"],"amount":"1","list":["x"],"map":{"a.b/c":"d"},"pair":{"a":1,"b":2}}`: nil,
		`{"name":"a","words":"a","amount":1}`:  nil,
		`{}`:                                   {`1:1 name [named] "name" is required`},
		`[]`:                                   {`1:1  [top] a list is not an object`},
		`{"name":1}`:                           {`1:9 name [named] the number 1 is not a string`},
		`{"name":null}`:                        {`1:9 name [named] null is not a string`},
		`{"name":"a","nmae":"b"}`:              {`1:13 nmae [unknown-field] unknown key "nmae"; did you mean "name"?`},
		`{"name":"a","own":1}`:                 {`1:13 own [top] it is ours`},
		`{"name":"a","count":1.5,"on":"true"}`: {`1:21 count [top] the number 1.5 is not a whole number`, `1:30 on [top] the string "true" is not true or false`},
		`{"name":"a","words":["b"]}`:           {`1:21 words [top] "b" is not one of a,b, a`},
		`{"name":"a","words":[1]}`:             {`1:21 words [top] a list is not a string of words separated by commas`},
		`{"name":"a","list":[]}`:               {`1:20 list [top] it has 0 entries; write at least 1`},
		"{\"name\":\"a\",\n \"list\":[\"x\",\n\t\"yse\"]}": {
			`3:2 list[1] [top] "yse" is not one of x, yes; did you mean "yes"?`,
		},
		`{"name":"a","list":["x","y","z"]}`: {`1:20 list [top] it has 3 entries, 2 at most are taken`},
		`{"name":"a","map":{"d":5}}`:        {`1:20 map.d [top] "d" is not one of a.b/c`, `1:24 map.d [top] the number 5 is not a string`},
		`{"name":"a","pair":{"a":1}}`:       {`1:20 pair.b [paired] b is missing`},
	} {
		node, err := ParseJSON([]byte(text))
		require.NoError(t, err, text)
		var got []string
		for _, p := range Check(example, node, "") {
			got = append(got, fmt.Sprintf("%d:%d %s [%s] %s", p.Line, p.Column, p.Path, p.Rule, p.Message))
		}
		assert.Equal(t, want, got, text)
	}
}

func TestParseJSONRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "unexpected end of JSON input at line 1, column 1",
		"{\n\"a\": nope}":                   "at line 2, column 7",
		`{"a":1,"a":2}`:                     `the key "a" stands twice, again at line 1, column 8`,
		`{"a":{"b":1,"\u0062":2}}`:          `the key "b" stands twice`,
		`{} x`:                              "after top-level value",
		"\"\xff\"":                          "not UTF-8",
		strings.Repeat("[", 20000):          "exceeded max depth",
		`{"a":1` + strings.Repeat(" ", 100): "unexpected end",
	} {
		_, err := ParseJSON([]byte(text))
		assert.ErrorContains(t, err, want, "%.40q", text)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"karpenter_node_expiry", "karpenter_node_labels", "tags", "name", "nodes"}
	for word, want := range map[string]string{
		"karpenter_node_expiri": "karpenter_node_expiry", "KARPENTER_NODE_EXPIRY": "karpenter_node_expiry", "karpenter_node_label": "karpenter_node_labels",
		"tag": "tags", "atgs": "tags", "nmae": "name", "node": "nodes", "vpc_id": "", "": "", "zzzz": "",
	} {
		assert.Equal(t, want, Nearest(word, known), word)
	}
	assert.Empty(t, Nearest(strings.Repeat("x", 1<<20), known))
}

func TestJoin(t *testing.T) {
	assert.Equal(t, "a", Join("", "a"))
	assert.Equal(t, "a.b-c_d", Join("a", "b-c_d"))
	assert.Equal(t, `a["b.c/d"]`, Join("a", "b.c/d"))
	assert.Equal(t, `a["\x1b"]`, Join("a", "\x1b"))
	assert.Equal(t, `[""]`, Join("", ""))
}

// TestEntries shows how merge keys are read, and that no chain of them takes long.
func TestEntries(t *testing.T) {
	read := func(text string) map[string]string {
		var document yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(text), &document))
		values := map[string]string{}
		for _, entry := range Entries(Get(document.Content[0], "x")) {
			values[entry.Key.Value] = Resolve(entry.Value).Value
		}
		return values
	}
	assert.Equal(t, map[string]string{"a": "1", "b": "3", "c": "4"}, read("base: &base {a: 1, b: 2}\nx: {<<: *base, b: 3, c: 4}"))
	assert.Equal(t, map[string]string{"a": "1", "b": "2", "c": "4"}, read("p: &p {a: 1}\nq: &q {a: 5, b: 2}\nx: {<<: [*p, *q], c: 4}"))
	assert.Equal(t, map[string]string{"a": "1", "b": "2"}, read("p: &p {a: 1}\nq: &q {<<: *p, b: 2}\nx: {<<: *q}"))
	assert.Equal(t, map[string]string{"a": "1"}, read("x: &x {<<: *x, a: 1}"), "a mapping that merges itself")

	var text strings.Builder
	text.WriteString("a0: &a0 {k: v}\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&text, "a%d: &a%d {<<: [*a%d, *a%d, *a%d]}\n", i, i, i-1, i-1, i-1)
	}
	text.WriteString("x: {<<: *a39}\n")
	assert.Equal(t, map[string]string{"k": "v"}, read(text.String()), "three to the power of forty steps, were they all taken")
}
