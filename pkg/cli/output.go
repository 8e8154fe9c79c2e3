package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// outputFlag is the flag --output of a command, with the formats that the command has, the default first.
type outputFlag struct {
	format  string
	formats []string
}

// addOutput gives a command the flag.
func addOutput(cmd *cobra.Command, formats ...string) *outputFlag {
	flag := &outputFlag{format: formats[0], formats: formats}
	cmd.Flags().VarP(flag, "output", "o", "output as "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return flag
}

func (f *outputFlag) String() string { return f.format }
func (f *outputFlag) Type() string   { return "format" }

// Set takes the value of the flag.
func (f *outputFlag) Set(text string) error {
	if !slices.Contains(f.formats, text) {
		return fmt.Errorf("write one of %s", strings.Join(f.formats, ", "))
	}
	f.format = text
	return nil
}

// escapeJSON escapes, in JSON, the characters that a terminal may obey and that JSON takes as they are.
func escapeJSON(text string) string {
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
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, escapeJSON(text.String()))
	return err
}
