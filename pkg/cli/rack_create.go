package cli

import (
	"fmt"

	"rackparams/params"
	"rackparams/pkg/store"

	"github.com/spf13/cobra"
)

func newRackCreate(a *app) *cobra.Command {
	provider, release := providerFlag{"aws"}, releaseFlag{params.NewestRelease}
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
	cmd.Flags().Var(&provider, "provider", "the provider the rack runs on")
	cmd.Flags().Var(&release, "release", "the rack's release")
	completeProvider(cmd)
	cmd.PreRunE = checkAssignments(1)
	cmd.RunE = run(func(args []string) error {
		name := args[0]
		if err := store.CheckName(name); err != nil {
			return err
		}
		set, err := assignments(args[1:])
		if err != nil {
			return err
		}
		if err := checkIdentity(set); err != nil {
			return err
		}
		set["name"], set["release"] = name, release.String()
		blank, err := params.NewRack(provider.name, nil)
		if err != nil {
			return err
		}
		outcome, err := blank.Apply(params.Change{Set: set, Install: true, ReadFile: readRegularFile})
		if err != nil {
			return err
		}
		s, err := a.store()
		if err != nil {
			return err
		}
		if err := s.Create(store.Rack{Rack: outcome.Rack, Name: name}); err != nil {
			return err
		}
		a.printWarnings(outcome)
		_, err = fmt.Fprintln(a.Out, "Creating rack... OK")
		return err
	})
	return cmd
}

// checkIdentity refuses, among the parameters, what the arguments and flags say already.
func checkIdentity(set map[string]string) error {
	var problems params.Problems
	for name, instead := range map[string]string{"name": "the first argument", "release": "the flag --release"} {
		if _, given := set[name]; given {
			problems = append(problems, params.Problem{Text: fmt.Sprintf("%s is given by %s; leave %s= out", name, instead, name)})
		}
	}
	if problems == nil {
		return nil
	}
	return sorted(problems)
}
