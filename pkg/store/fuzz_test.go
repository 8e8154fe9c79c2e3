package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzHistory has whatever comes stand in the file of the history. A change is recorded all the same, and told as the newest one, and
// every whole line stays.
func FuzzHistory(f *testing.F) {
	for _, text := range []string{"", "\n", "xx\n{}\n", `{"id":"A","when":"2026-12-01T00:00:00Z","who":"me","action":"set","changes":[{"name":"a"}],"before":"0","after":"1"}` + "\n", `{"id":"half`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxLogBytes/2 {
			return
		}
		s := newStore(t)
		create(t, s, map[string]string{"node_disk": "1"})
		path := filepath.Join(s.dir, "racks", "prod", "history.jsonl")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Update("prod", func(Rack) (map[string]string, error) { return map[string]string{"node_disk": "2"}, nil }); err != nil {
			t.Fatal(err)
		}
		entries, err := s.History("prod")
		if err != nil || len(entries) == 0 || entries[len(entries)-1].Changes[0].String() != `"1" -> "2"` {
			t.Fatalf("%v %+v", err, entries)
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.HasPrefix(after, text[:bytes.LastIndexByte(text, '\n')+1]) {
			t.Fatalf("%v: a line is gone", err)
		}
	})
}

// FuzzVars has whatever comes stand in the file of the values. It is read as what it is, or refused and left as it is.
func FuzzVars(f *testing.F) {
	for _, text := range []string{"{}", `{"node_disk":"20"}`, `{"a":1}`, `{"a":"1","a":"2"}`, "[]", "", "{\"release\":\"x\"}", "\xff"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newStore(t)
		create(t, s, nil)
		path := filepath.Join(s.dir, "racks", "prod", "vars.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		rack, err := s.Rack("prod")
		updated := s.Update("prod", func(rack Rack) (map[string]string, error) { return rack.Stored(), nil })
		if (err == nil) != (updated == nil) {
			t.Fatalf("read: %v, changed: %v", err, updated)
		}
		if err != nil {
			if after, readErr := os.ReadFile(path); readErr != nil || !bytes.Equal(after, text) {
				t.Fatalf("refused with %v, and changed", err)
			}
			return
		}
		again, err := s.Rack("prod")
		if err != nil || len(changed(rack.Stored(), again.Stored())) > 0 {
			t.Fatalf("%v: %v became %v", err, rack.Stored(), again.Stored())
		}
	})
}
