package cli

import (
	"rackparams/params"

	"github.com/spf13/cobra"
)

func newParamsUnset(a *app) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use: "unset NAME...", Short: "Remove stored values, so that the defaults hold",
		Example: `  convox rack params unset karpenter_disruption_block_schedule karpenter_disruption_block_duration`,
		Args:    arguments("the NAME of a parameter", 1, 0), ValidArgsFunction: a.completeStored,
		RunE: run(func(names []string) error {
			a.canForce = true
			return a.change(params.Change{Unset: names, Force: force})
		}),
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "pass managed names, release gates and destructive changes")
	return cmd
}
