package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// addOutput gives a command the flag --output, with the formats that the command has, the default first.
func addOutput(cmd *cobra.Command, formats ...string) *choiceFlag {
	flag := &choiceFlag{value: formats[0], of: formats}
	cmd.Flags().VarP(flag, "output", "o", "output as one of these")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return flag
}

// escapeJSON escapes, in JSON, the characters that a terminal may obey and that JSON takes as they are, and replaces bytes that are
// not UTF-8.
func escapeJSON(text string) string {
	text = strings.ToValidUTF8(text, `\ufffd`)
	if !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x7f && isUnsafe(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r >= 0x7f && isUnsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// jsonList writes a JSON object with one list, piece by piece, so that no number of entries fills the memory.
type jsonList struct {
	w       io.Writer
	name    string
	entries int
}

// add writes one more entry.
func (l *jsonList) add(v any) error {
	opening := ",\n    "
	if l.entries == 0 {
		opening = fmt.Sprintf("{\n  %q: [\n    ", l.name)
	}
	l.entries++
	return writeJSON(l.w, opening, "    ", v)
}

// end closes the list and the object. Further members of the object may stand behind the list.
func (l *jsonList) end(members ...jsonMember) error {
	closing := "\n  ]"
	if l.entries == 0 {
		closing = fmt.Sprintf("{\n  %q: []", l.name)
	}
	if _, err := io.WriteString(l.w, closing); err != nil {
		return err
	}
	for _, member := range members {
		if err := writeJSON(l.w, fmt.Sprintf(",\n  %q: ", member.name), "  ", member.value); err != nil {
			return err
		}
	}
	_, err := io.WriteString(l.w, "\n}\n")
	return err
}

// jsonMember is a member of a JSON object.
type jsonMember struct {
	name  string
	value any
}

// writeJSON writes a value as JSON behind an opening; its lines but the first are indented.
func writeJSON(w io.Writer, opening, indent string, v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(indent, "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, opening+escapeJSON(strings.TrimSuffix(text.String(), "\n")))
	return err
}

// encode writes a value made of maps, lists and scalars as JSON or YAML, its keys sorted.
func encode(w io.Writer, format string, v any) error {
	if format == "yaml" {
		encoder := yaml.NewEncoder(w)
		encoder.SetIndent(2)
		if err := encoder.Encode(v); err != nil {
			return err
		}
		return encoder.Close()
	}
	if err := writeJSON(w, "", "", v); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
