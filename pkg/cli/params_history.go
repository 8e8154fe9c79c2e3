package cli

import (
	"slices"
	"strings"
	"time"

	"rackparams/params"
	"rackparams/pkg/store"

	"github.com/spf13/cobra"
)

func newParamsHistory(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "history [NAME]...", Short: "Show who changed the parameters of a rack, when, and how",
		Long: `Lists the changes that this program made to a rack, the newest first; with NAMEs, those of these
parameters. Sensitive values are not recorded, and long ones are shortened.`,
		Example: `  convox rack params history -r prod
  convox rack params history karpenter_disruption_block_schedule -o json`,
		ValidArgsFunction: a.completeNames,
	}
	output := addOutput(cmd, "table", "json", "yaml")
	cmd.RunE = run(func(names []string) error {
		s, err := a.store()
		if err != nil {
			return err
		}
		rack, err := a.rackName(s)
		if err != nil {
			return err
		}
		entries, err := s.History(rack)
		if err != nil {
			return err
		}
		if entries, err = about(entries, names); err != nil {
			return err
		}
		slices.Reverse(entries)
		if output.value != "table" {
			list := []any{}
			for _, entry := range entries {
				list = append(list, entryJSON(entry))
			}
			return encode(a.Out, output.value, list)
		}
		if len(entries) == 0 {
			a.notice("no change is recorded")
			return nil
		}
		rows := [][]string{{"WHEN", "WHO", "ACTION", "PARAMETER", "CHANGE"}}
		for _, entry := range entries {
			rows = append(rows, entryRows(entry)...)
		}
		return table(a.Out, rows)
	})
	return cmd
}

// about leaves of the entries what is about the names; no names leave all. A name that neither they nor the catalog know is an error.
func about(entries []store.Entry, names []string) ([]store.Entry, error) {
	if len(names) == 0 {
		return entries, nil
	}
	seen := map[string]bool{}
	var some []store.Entry
	for _, entry := range entries {
		entry.Changes = slices.DeleteFunc(slices.Clone(entry.Changes), func(c store.Change) bool { return !slices.Contains(names, c.Name) })
		for _, change := range entry.Changes {
			seen[change.Name] = true
		}
		if len(entry.Changes) > 0 {
			some = append(some, entry)
		}
	}
	var problems params.Problems
	for _, name := range names {
		if params.Find(name) == nil && !seen[name] {
			problems = append(problems, params.Problem{Text: params.UnknownName(name, 0)})
		}
	}
	if problems != nil {
		return nil, problems
	}
	return some, nil
}

// entryRows are a line for each parameter, the first with who and when.
func entryRows(entry store.Entry) [][]string {
	var rows [][]string
	head := []string{entry.When.UTC().Format(time.RFC3339), entry.Who, string(entry.Action)}
	if len(entry.Changes) == 0 { // a rack that was made with nothing set
		return [][]string{head}
	}
	for _, change := range entry.Changes {
		rows = append(rows, append(head, change.Name, change.String()))
		head = []string{"", "", ""}
	}
	return rows
}

func entryJSON(entry store.Entry) map[string]any {
	changes := []any{}
	for _, change := range entry.Changes {
		changes = append(changes, map[string]any{"name": change.Name, "from": orNil(change.From), "to": orNil(change.To), "hidden": change.Hidden})
	}
	return map[string]any{"when": entry.When.UTC().Format(time.RFC3339Nano), "who": entry.Who, "action": string(entry.Action), "changes": changes}
}

func orNil(text *string) any {
	if text == nil {
		return nil
	}
	return strings.ToValidUTF8(*text, "\ufffd")
}
