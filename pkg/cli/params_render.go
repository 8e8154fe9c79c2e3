package cli

import (
	"slices"

	"rackparams/params"
	"rackparams/pkg/nodepool"
	"rackparams/pkg/store"
	"rackparams/render"

	"github.com/spf13/cobra"
)

// renderOptions say what of a rack is rendered, and how.
type renderOptions struct {
	pools       []string
	budgetsOnly bool
	format      string
}

func newParamsRender(a *app) *cobra.Command {
	var options renderOptions
	var release releaseFlag
	cmd := &cobra.Command{
		Use: "render [Key=Value]...", Short: "Print the NodePools of a rack",
		Long: `Prints the NodePools that the rack renders: workload, then build, then the custom ones by name.
Parameters that are given are applied first, and not stored.`,
		Example: `  convox rack params render --budgets-only
  convox rack params render karpenter_disruption_budget_nodes=1 --pool workload
  convox rack params render --release 3.25.6 -o json`,
		ValidArgsFunction: a.completeAssignments, PreRunE: checkAssignments(0),
	}
	a.addPool(cmd, &options.pools)
	cmd.Flags().Var(&release, "release", "as the rack would render at this release")
	cmd.Flags().BoolVar(&options.budgetsOnly, "budgets-only", false, "only what names each pool and its budgets")
	output := addOutput(cmd, "yaml", "json")
	cmd.RunE = run(func(args []string) error {
		_, changed, err := a.preview(args, release)
		if err != nil {
			return err
		}
		options.format = output.value
		return a.render(changed, options)
	})
	return cmd
}

// preview returns the rack as it is, and as it would be at a release and with parameters set, and prints the warnings that
// belong to them.
func (a *app) preview(args []string, release releaseFlag) (now store.Rack, then params.Rack, err error) {
	if now, err = a.loadRack(); err != nil {
		return now, then, err
	}
	then = now.Rack
	if release.Release != "" {
		then = then.AtRelease(release.Release)
	}
	set, err := assignments(args)
	if err != nil || len(set) == 0 {
		return now, then, err
	}
	outcome, err := then.Apply(params.Change{Set: set, ReadFile: readRegularFile})
	if err != nil {
		return now, then, err
	}
	a.printWarnings(outcome)
	return now, outcome.Rack, nil
}

// render prints the NodePools of a rack.
func (a *app) render(rack params.Rack, options renderOptions) error {
	pools, err := a.nodePools(rack, options.pools)
	if err != nil || pools == nil {
		return err
	}
	if options.budgetsOnly {
		pools = render.BudgetsOnly(pools)
	}
	if options.format == "json" {
		return render.JSON(a.Out, pools)
	}
	return render.YAML(a.Out, pools)
}

// nodePools are the NodePools of a rack, or those of the names. Where Karpenter is off there are none, which a notice says.
func (a *app) nodePools(rack params.Rack, names []string) ([]nodepool.NodePool, error) {
	pools, err := render.NodePools(rack)
	if err != nil {
		return nil, err
	}
	if pools == nil {
		a.noticeKarpenterOff(rack)
		return nil, nil
	}
	return selectPools(pools, names)
}

func (a *app) noticeKarpenterOff(rack params.Rack) {
	if rack.Provider != params.AWS {
		a.notice("the rack runs on %s, where there is no Karpenter: it renders no NodePools", rack.Provider)
		return
	}
	a.notice("karpenter_enabled is not true: the rack renders no NodePools")
}

// selectPools keeps the pools of the names; no names keep all.
func selectPools(pools []nodepool.NodePool, names []string) ([]nodepool.NodePool, error) {
	if len(names) == 0 {
		return pools, nil
	}
	var known []string
	for _, pool := range pools {
		known = append(known, pool.Metadata.Name)
	}
	if err := missingPools(names, known, "the rack renders no pool %s; its pools are %s"); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(pools, func(pool nodepool.NodePool) bool { return !slices.Contains(names, pool.Metadata.Name) }), nil
}
