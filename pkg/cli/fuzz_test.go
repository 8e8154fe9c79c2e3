package cli

import (
	"strings"
	"testing"
	"unicode"

	"rackparams/params"
)

// FuzzParseAssignments reads whatever comes as the file of --file. What is taken are names and values that can be checked, and what is
// refused is refused with a message.
func FuzzParseAssignments(f *testing.F) {
	for _, text := range []string{"a: b", `{"a":{"b":[1]}}`, "a: 010\nb: 2026-12-01", "? [a]\n: b", "a: &x [*x]", "- a", "a: !!binary aGk=", "---\n---\n", "\ufeffa: b", "<<: {a: b}"} {
		f.Add([]byte(text))
	}
	rack, err := params.NewRack("aws", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			return
		}
		set, problems := parseAssignments(text)
		for _, problem := range problems {
			if problem == "" {
				t.Fatal("a problem without words")
			}
		}
		if problems != nil {
			return
		}
		for name := range set {
			if name == "" {
				t.Fatal("a name without letters")
			}
		}
		_, _ = rack.Apply(params.Change{Set: set})
	})
}

// FuzzEscape writes whatever comes for a terminal. What a terminal would obey is not left in it.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{"\x1b[31mred", "a\u202eb", "\xff\xfe", "\u009b", "line\nline", "\u2066x\u2069"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{escape(text), escapeJSON(text)} {
			if strings.ContainsFunc(shown, func(r rune) bool { return r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }) {
				t.Fatalf("%q", shown)
			}
		}
		if strings.ContainsFunc(escape(text), unicode.IsControl) {
			t.Fatalf("%q", escape(text))
		}
	})
}
