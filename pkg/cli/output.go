package cli

import (
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
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
