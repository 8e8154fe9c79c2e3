package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackparams/params"
	"rackparams/pkg/store"

	"github.com/spf13/cobra"
)

func newParamsList(a *app, name, short string) *cobra.Command {
	l := &paramsList{app: a}
	cmd := &cobra.Command{
		Use: name, Short: short, Args: noArguments,
		Long: `Lists the stored values. A parameter that is not listed has its default in effect; --all lists those too.
Sensitive values are masked on a terminal.`,
		Example: `  convox rack params -g karpenter
  convox rack params --all -o json`,
	}
	cmd.Flags().StringVarP(&l.group, "group", "g", "", "only the parameters of a group, by its name or a unique prefix")
	cmd.Flags().BoolVar(&l.reveal, "reveal", false, "show sensitive values on a terminal")
	cmd.Flags().BoolVar(&l.all, "all", false, "every parameter, with the value in effect and its source")
	_ = cmd.RegisterFlagCompletionFunc("group", completeGroups)
	l.output = addOutput(cmd, "table", "json", "yaml", "env")
	cmd.RunE = run(func([]string) error { return l.run() })
	return cmd
}

type paramsList struct {
	*app
	group       string
	reveal, all bool
	output      *choiceFlag
}

// listed is one line of the list.
type listed struct{ name, value, source string }

func (l *paramsList) run() error {
	if l.group != "" {
		group, err := params.FindGroup(l.group)
		if err != nil {
			return err
		}
		l.group = group
	}
	rack, err := l.loadRack()
	if err != nil {
		return err
	}
	lines := l.lines(rack)
	if len(lines) == 0 && l.group != "" {
		l.notice("no params in group '%s' for this rack", l.group)
	}
	switch l.output.value {
	case "table":
		return l.table(lines)
	case "env":
		return l.env(lines)
	}
	values := map[string]any{}
	for _, line := range lines {
		values[line.name] = line.value
		if l.all {
			values[line.name] = map[string]string{"value": line.value, "source": line.source}
		}
	}
	return encode(l.Out, l.output.value, values)
}

func (l *paramsList) lines(rack store.Rack) []listed {
	names := rack.Names()
	if l.all {
		names = allNames(rack)
	}
	var lines []listed
	for _, name := range names {
		p := params.Find(name)
		if l.group != "" && (p == nil || !p.InGroup(l.group)) {
			continue
		}
		lines = append(lines, listed{name, l.shown(p, rack.Value(name), l.reveal), source(rack.Rack, name)})
	}
	return lines
}

// allNames are the names of all parameters of the rack's provider and of what else is stored.
func allNames(rack store.Rack) []string {
	names := map[string]bool{}
	for _, name := range rack.Names() {
		names[name] = true
	}
	for _, p := range params.All() {
		if p.Providers.Has(rack.Provider) && !p.IsIdentity() {
			names[p.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func source(rack params.Rack, name string) string {
	if rack.IsStored(name) {
		return "stored"
	}
	return "default"
}

// shown is a value as it is printed: JSON decoded, and sensitive values masked on a terminal.
func (a *app) shown(p *params.Parameter, value string, reveal bool) string {
	switch {
	case p == nil:
		return value
	case p.Sensitive && value != "" && !reveal && isTerminal(a.Out):
		return params.Mask
	}
	return p.Show(value)
}

func (l *paramsList) table(lines []listed) error {
	var rows [][]string
	for _, line := range lines {
		row := []string{line.name, line.value}
		if l.all {
			row = append(row, line.source)
		}
		rows = append(rows, row)
	}
	return table(l.Out, rows)
}

// env writes values as a shell reads them.
func (l *paramsList) env(lines []listed) error {
	for _, line := range lines {
		if !params.IsName(line.name) {
			l.warn(fmt.Sprintf("%q is left out: a shell has no such name", line.name))
			continue
		}
		if _, err := fmt.Fprintf(l.Out, "%s=%s\n", line.name, quoteForShell(line.value)); err != nil {
			return err
		}
	}
	return nil
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_"

// quoteForShell quotes a value for a POSIX shell, and one with control characters, which those cannot quote, for bash.
func quoteForShell(value string) string {
	safe := func(r rune) bool { return strings.ContainsRune(shellSafe, r) }
	obeyed := func(r rune) bool { return r != '\n' && r != '\t' && isUnsafe(r) }
	switch {
	case !strings.ContainsFunc(value, func(r rune) bool { return !safe(r) }):
		return value
	case !strings.ContainsFunc(value, obeyed):
		return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
	}
	return "$'" + escape(strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(value)) + "'"
}
