package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rackparams/params"

	"github.com/spf13/cobra"
)

func newParamsDescribe(a *app) *cobra.Command {
	var groupName string
	cmd := &cobra.Command{
		Use: "describe [NAME]...", Short: "Explain parameters: what they do, their defaults and what they take",
		Example: `  convox rack params describe karpenter_disruption_budget_nodes
  convox rack params describe -g scaling -o markdown`,
		ValidArgsFunction: a.completeNames,
	}
	cmd.Flags().StringVarP(&groupName, "group", "g", "", "only the parameters of a group, by its name or a unique prefix")
	_ = cmd.RegisterFlagCompletionFunc("group", completeGroups)
	output := addOutput(cmd, "table", "json", "yaml", "markdown")
	cmd.RunE = run(func(names []string) error {
		if groupName != "" {
			group, err := params.FindGroup(groupName)
			if err != nil {
				return err
			}
			groupName = group
		}
		list, err := described(names, groupName)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			a.notice("no params in group '%s'", groupName)
		}
		switch output.value {
		case "table":
			return describeText(a.Out, list)
		case "markdown":
			return describeMarkdown(a.Out, list)
		}
		facts := []any{}
		for _, p := range list {
			facts = append(facts, describeFacts(p))
		}
		return encode(a.Out, output.value, facts)
	})
	return cmd
}

// described are the parameters of the names and of the group; all of them where neither is given.
func described(names []string, group string) ([]*params.Parameter, error) {
	var list []*params.Parameter
	var problems params.Problems
	for _, name := range names {
		p := params.Find(name)
		if p == nil {
			problems = append(problems, params.Problem{Text: params.UnknownName(name, 0)})
			continue
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	if problems != nil {
		return nil, sorted(problems)
	}
	all := params.All()
	for i := range all {
		if (group != "" && all[i].InGroup(group) || group == "" && len(names) == 0) && !slices.Contains(list, &all[i]) {
			list = append(list, &all[i])
		}
	}
	return list, nil
}

// fact is one line about a parameter.
type fact struct{ name, value string }

func facts(p *params.Parameter) []fact {
	orNone := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	list := []fact{
		{"Type", string(p.Type)},
		{"Default", orNone(p.Default)},
		{"Accepts", p.Value.Accepts()},
		{"Groups", orNone(strings.Join(strings.Fields(p.Groups), ", "))},
		{"Providers", strings.Join(p.Providers.Names(), ", ")},
		{"Release", "any"},
		{"Clearable", "no"},
	}
	if p.Since != "" {
		list[5].value = p.Since + " or later"
	}
	if p.Clearable {
		list[6].value = "yes, by an empty value"
	}
	for _, flag := range []struct {
		set         bool
		name, value string
	}{
		{p.Sensitive, "Sensitive", "yes, masked on a terminal"},
		{p.Managed, "Managed", "yes, by rack updates"},
		{p.InstallOnly, "Fixed", "yes, at installation"},
	} {
		if flag.set {
			list = append(list, fact{flag.name, flag.value})
		}
	}
	return list
}

func describeText(w io.Writer, list []*params.Parameter) error {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n%s\n", p.Name, wrap(p.Doc, 78, "  "))
		for _, f := range facts(p) {
			fmt.Fprintf(&b, "  %-10s %s\n", f.name+":", f.value)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func describeMarkdown(w io.Writer, list []*params.Parameter) error {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## `%s`\n\n%s\n\n", p.Name, p.Doc)
		for _, f := range facts(p) {
			fmt.Fprintf(&b, "- %s: %s\n", f.name, markdown(f))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown is the value of a fact; defaults are code, and what Markdown would take for its own is escaped elsewhere.
func markdown(f fact) string {
	if f.name == "Default" && f.value != "none" {
		return "`" + f.value + "`"
	}
	return strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`).Replace(f.value)
}

// describeFacts is what machines read of a parameter.
func describeFacts(p *params.Parameter) map[string]any {
	return map[string]any{
		"name": p.Name, "description": p.Doc, "type": string(p.Type), "default": p.Default, "accepts": p.Value.Accepts(),
		"groups": append([]string{}, strings.Fields(p.Groups)...), "providers": p.Providers.Names(), "release": p.Since,
		"clearable": p.Clearable, "sensitive": p.Sensitive, "managed": p.Managed, "installOnly": p.InstallOnly,
	}
}

// wrap breaks text into lines of at most width characters, each indented.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != indent {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	return b.String() + line
}
