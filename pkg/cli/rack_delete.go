package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRackDelete(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete NAME --yes", Short: "Forget a rack",
		Long: `Forgets a rack and its parameters. Nothing is uninstalled. The folder of a rack that Terraform
works in is refused.`,
		Args:              arguments("the rack's NAME", 1, 1),
		ValidArgsFunction: a.completeAfterName(nil),
		PreRunE: func(_ *cobra.Command, args []string) error {
			if !yes {
				return fmt.Errorf("this forgets the rack %s and its parameters for good; add --yes to do it", escape(args[0]))
			}
			return nil
		},
		RunE: run(func(args []string) error {
			s, err := a.store()
			if err != nil {
				return err
			}
			if err := s.Delete(args[0]); err != nil {
				return err
			}
			_, err = fmt.Fprintln(a.Out, "Deleting rack... OK")
			return err
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm")
	return cmd
}
