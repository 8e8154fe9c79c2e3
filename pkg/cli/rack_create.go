package cli

import (
	"fmt"

	"rackparams/params"

	"github.com/spf13/cobra"
)

func newRackCreate(a *app) *cobra.Command {
	var provider, release string
	cmd := &cobra.Command{
		Use:   "create NAME [Key=Value]...",
		Short: "Register a rack",
		Long: `Registers a rack, its parameters checked as at installation: those that are fixed then may be given.
Nothing is installed.`,
		Example: `  convox rack create staging
  convox rack create prod karpenter_auth_mode=true karpenter_enabled=true region=eu-west-1 --release 3.25.6`,
		Args:              arguments("the rack's NAME", 1, 0),
		ValidArgsFunction: a.completeAfterName(a.completeAssignments),
	}
	cmd.Flags().StringVar(&provider, "provider", "aws", "the `PROVIDER` the rack runs on")
	cmd.Flags().StringVar(&release, "release", params.NewestRelease, "the rack's release, as `X.Y.Z`")
	completeProvider(cmd)
	cmd.PreRunE = checkAssignments(1)
	cmd.RunE = run(func(args []string) error {
		name := args[0]
		set, err := assignments(args[1:])
		if err != nil {
			return err
		}
		version, err := parseRelease(release)
		if err != nil {
			return err
		}
		set["name"], set["release"] = name, string(version)
		blank, err := params.NewRack(provider, nil)
		if err != nil {
			return err
		}
		outcome, err := blank.Apply(params.Change{Set: set, Install: true, ReadFile: readFile})
		if err != nil {
			return err
		}
		s, err := a.store()
		if err != nil {
			return err
		}
		if err := s.Create(name, provider, outcome.Rack.Stored()); err != nil {
			return err
		}
		a.printWarnings(outcome)
		_, err = fmt.Fprintln(a.Out, "Creating rack... OK")
		return err
	})
	return cmd
}
