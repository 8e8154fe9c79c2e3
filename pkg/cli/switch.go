package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newSwitch(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "switch NAME", Short: "Make a rack the current one",
		Args:              arguments("the rack's NAME", 1, 1),
		ValidArgsFunction: a.completeAfterName(nil),
		RunE: run(func(args []string) error {
			s, err := a.store()
			if err != nil {
				return err
			}
			if err := s.Switch(args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.Out, "Switched to %s\n", args[0])
			return err
		}),
	}
}
