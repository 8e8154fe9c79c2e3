package cli

import (
	"errors"
	"fmt"
	"maps"

	"rackparams/params"
	"rackparams/pkg/store"

	"github.com/spf13/cobra"
)

func newParamsSet(a *app) *cobra.Command {
	var file string
	var force, dryRun bool
	cmd := &cobra.Command{
		Use: "set Key=Value...", Short: "Set parameters of a rack",
		Long: `Checks a change against what is stored, and stores it whole or not at all. An empty value clears a
parameter that can be cleared. JSON parameters take JSON, base64 of JSON, or the path of a .json file.`,
		Example: `  convox rack params set karpenter_disruption_budget_nodes=20% -r prod
  convox rack params set karpenter_disruption_block_schedule="0 9 * * MON-FRI" karpenter_disruption_block_duration=8h
  convox rack params set --file params.yaml --dry-run`,
		ValidArgsFunction: a.completeAssignments,
	}
	cmd.Flags().StringVar(&file, "file", "", "a `FILE` with a JSON or YAML map of more parameters; - is stdin")
	cmd.Flags().BoolVarP(&force, "force", "f", false, "pass unknown and managed names, release gates and destructive changes")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "check, store nothing, and print the NodePools that the rack would render")
	output := addOutput(cmd, "yaml", "json")
	cmd.Flags().Lookup("output").Usage = "output of a dry run as one of these"
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 && file == "" {
			return errors.New("Key=Value is missing: give a parameter to set, or --file") //nolint:staticcheck // it begins with what to type
		}
		return checkAssignments(0)(cmd, args)
	}
	cmd.RunE = run(func(args []string) error {
		set := map[string]string{}
		if file != "" {
			var err error
			if set, err = a.fileAssignments(file); err != nil {
				return err
			}
		}
		// What stands on the command line goes before what stands in the file.
		given, err := assignments(args)
		if err != nil {
			return err
		}
		maps.Copy(set, given)
		a.canForce = true
		c := params.Change{Set: set, Force: force}
		if dryRun {
			return a.dryRun(c, output.value)
		}
		return a.change(c)
	})
	return cmd
}

// dryRun checks a change against the stored rack, stores nothing, and prints what the rack would render.
func (a *app) dryRun(c params.Change, format string) error {
	c.ReadFile = readRegularFile
	rack, err := a.loadRack()
	if err != nil {
		return err
	}
	outcome, err := rack.Apply(c)
	if err != nil {
		return err
	}
	a.printWarnings(outcome)
	return a.render(outcome.Rack, renderOptions{format: format})
}

// change checks a change against the stored rack and stores it.
func (a *app) change(c params.Change) error {
	// Files are read now: under the rack's lock, one that does not answer would hold up everybody else.
	c.ReadFile = readAhead(c.Files())
	s, err := a.store()
	if err != nil {
		return err
	}
	name, err := a.rackName(s)
	if err != nil {
		return err
	}
	var outcome params.Outcome
	var before store.Rack
	err = s.Update(name, func(rack store.Rack) (map[string]string, error) {
		before = rack
		outcome, err = rack.Apply(c)
		return outcome.Rack.Stored(), err
	})
	if err != nil {
		return err
	}
	a.printWarnings(outcome)
	switch {
	case before.InFolder:
		a.notice("the rack itself follows with its next Terraform apply")
	case before.Terraform:
		a.notice("Terraform manages the rack, and does not read this store: nothing but `rack params apply` brings it to the rack")
	}
	_, err = fmt.Fprintln(a.Out, "Updating parameters... OK")
	return err
}
