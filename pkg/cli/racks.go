package cli

import (
	"github.com/spf13/cobra"
)

func newRacks(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "racks", Short: "List the racks", Args: noArguments}
	output := addOutput(cmd, "table", "json", "yaml")
	cmd.RunE = run(func([]string) error {
		s, err := a.store()
		if err != nil {
			return err
		}
		names, err := s.Names()
		if err != nil {
			return err
		}
		current, err := s.Current()
		if err != nil {
			a.warn(err.Error())
		}
		rows := [][]string{{"NAME", "PROVIDER", "RELEASE", "CURRENT"}}
		list := []any{}
		var damaged bool
		for _, name := range names {
			rack, err := s.Overview(name)
			if err != nil {
				a.printError(err)
				damaged = true
				continue
			}
			mark := ""
			if name == current {
				mark = "*"
			}
			rows = append(rows, []string{name, rack.Provider.String(), string(rack.Release), mark})
			list = append(list, map[string]any{"name": name, "provider": rack.Provider.String(), "release": string(rack.Release), "current": name == current})
		}
		switch {
		case output.value != "table":
			err = encode(a.Out, output.value, list)
		case len(rows) > 1:
			err = table(a.Out, rows)
		case !damaged:
			a.notice("there are no racks; create one with `%s rack create`", a.name)
		}
		if err == nil && damaged {
			err = errSilent
		}
		return err
	})
	return cmd
}
