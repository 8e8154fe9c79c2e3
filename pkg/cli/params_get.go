package cli

import (
	"fmt"
	"strings"

	"rackparams/params"

	"github.com/spf13/cobra"
)

func newParamsGet(a *app) *cobra.Command {
	var reveal bool
	cmd := &cobra.Command{
		Use: "get NAME...", Short: "Print the value in effect of parameters",
		Long: `Prints the value in effect: the stored one, else the default. One name prints the value alone.`,
		Example: `  convox rack params get karpenter_node_expiry
  convox rack params get karpenter_node_expiry karpenter_disruption_budget_nodes -o json`,
		Args: arguments("the NAME of a parameter", 1, 0), ValidArgsFunction: a.completeNames,
	}
	cmd.Flags().BoolVar(&reveal, "reveal", false, "show sensitive values on a terminal")
	output := addOutput(cmd, "table", "json", "yaml")
	cmd.RunE = run(func(names []string) error {
		rack, err := a.loadRack()
		if err != nil {
			return err
		}
		var problems params.Problems
		var rows [][]string
		var list []any
		for _, name := range names {
			p := params.Find(name)
			if !rack.IsStored(name) && (p == nil || !p.Providers.Has(rack.Provider)) {
				problems = append(problems, params.Problem{Text: params.UnknownName(name, rack.Provider)})
				continue
			}
			value := a.shown(p, rack.Value(name), reveal)
			byDefault := ""
			if p != nil {
				byDefault = p.Default
			}
			rows = append(rows, []string{name, value})
			list = append(list, map[string]any{"name": name, "value": value, "source": source(rack.Rack, name), "default": byDefault})
		}
		switch {
		case problems != nil:
			return sorted(problems)
		case output.value != "table" && len(list) == 1:
			return encode(a.Out, output.value, list[0])
		case output.value != "table":
			return encode(a.Out, output.value, list)
		case len(rows) == 1:
			// Lines stay lines: what is printed is the value itself.
			lines := strings.Split(rows[0][1], "\n")
			for i, line := range lines {
				lines[i] = escape(line)
			}
			_, err = fmt.Fprintln(a.Out, strings.Join(lines, "\n"))
			return err
		}
		return table(a.Out, rows)
	})
	return cmd
}
