package shape

import (
	"encoding/json"
	"testing"
)

// FuzzParseJSON reads whatever comes. What is taken is JSON to encoding/json too, and every node has a place.
func FuzzParseJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5,"x",null,true,{}]}`, `{"a":1,"a":2}`, "[\n1,\r\n\t2]", `"\ud800"`, "", "{}{}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		node, err := ParseJSON(text)
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatal("taken, and not JSON")
		}
		if node.Line < 1 || node.Column < 1 {
			t.Fatalf("%d:%d", node.Line, node.Column)
		}
		Check(example, node, "")
	})
}
