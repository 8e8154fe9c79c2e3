package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"rackparams/params"
	"rackparams/pkg/fleet"
	"rackparams/pkg/kube"
	"rackparams/pkg/nodepool"
	"rackparams/pkg/store"
	"rackparams/render"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func newParamsApply(a *app) *cobra.Command {
	p := &paramsApply{app: a, dryRun: choiceFlag{of: []string{dryRunClient, dryRunServer}}}
	cmd := &cobra.Command{
		Use: "apply", Short: "Apply the NodePools of a rack to the cluster",
		Long: `Shows what would change in the live NodePools, asks, and applies what the rack renders by server-side
apply, under the field manager ` + kube.FieldManager + `. All pools are tried first, so that what is refused
of one leaves the others as they are. The NodePools of a rack that Terraform manages get their budgets only,
unless --budgets-only=false is given.`,
		Example: `  convox rack params apply -r prod --dry-run=server
  convox rack params apply -r prod --budgets-only --yes
  convox rack params apply -r prod --pool workload --force-conflicts`,
		Args: noArguments,
	}
	a.addPool(cmd, &p.pools)
	cmd.Flags().BoolVar(&p.budgetsOnly, "budgets-only", false, "touch nothing but the budgets (default on a rack that Terraform manages)")
	cmd.Flags().Var(&p.dryRun, "dry-run", "show what would change, worked out here or by the API server, and apply nothing")
	cmd.Flags().BoolVar(&p.force, "force-conflicts", false, "take over fields that other managers have set to other values")
	cmd.Flags().BoolVar(&p.yes, "yes", false, "apply without asking")
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(p.dryRun.of, noFiles))
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		p.scopeGiven = cmd.Flags().Changed("budgets-only")
		if p.dryRun.value == "" && !p.yes && !isTerminal(a.In) {
			return errors.New("this changes the cluster, and there is no terminal to ask on; add --yes to apply it, or --dry-run=server to look")
		}
		return nil
	}
	cmd.RunE = run(func([]string) error { return p.run(context.Background()) })
	return cmd
}

// The dry runs.
const (
	dryRunClient = "client"
	dryRunServer = "server"
)

type paramsApply struct {
	*app
	pools       []string
	budgetsOnly bool
	scopeGiven  bool // --budgets-only is given
	dryRun      choiceFlag
	force, yes  bool
}

// application is one NodePool that is to be applied.
type application struct {
	name     string
	rendered nodepool.NodePool
	live     *unstructured.Unstructured // nil where the cluster has none
	object   map[string]any             // what is sent
	after    map[string]any             // what the cluster then has
}

func (p *paramsApply) run(ctx context.Context) error {
	rack, err := p.loadRack()
	if err != nil {
		return err
	}
	if !p.scopeGiven {
		p.budgetsOnly = rack.Terraform
	}
	pools, err := p.rendered(rack)
	if err != nil || pools == nil {
		return err
	}
	client, err := p.cluster()
	if err != nil {
		return err
	}
	plan, err := p.plan(ctx, client, pools)
	if err != nil {
		return err
	}
	changed, err := p.show(plan)
	if err != nil {
		return err
	}
	if len(changed) == 0 {
		p.notice("the cluster has it already: nothing would change")
		return nil
	}
	if err := p.warnOfClaims(ctx, client, changed); err != nil {
		return err
	}
	if p.dryRun.value != "" {
		return nil
	}
	if !p.yes && !p.confirm(fmt.Sprintf("Apply this to %s?", plural(len(changed), "NodePool"))) {
		return errors.New("not confirmed: nothing is applied")
	}
	return p.apply(ctx, client, changed)
}

// rendered are the chosen pools of the rack, or none where Karpenter is off.
func (p *paramsApply) rendered(rack store.Rack) ([]nodepool.NodePool, error) {
	pools, err := p.nodePools(rack.Rack, p.pools)
	if err != nil {
		return nil, err
	}
	for i := range pools {
		// An absent list is one that the API server fills in; were it left out here, whatever is there would stay.
		pools[i].Spec.Disruption.Budgets = nodepool.Effective(pools[i].Spec.Disruption.Budgets)
	}
	return pools, nil
}

// plan works out what becomes of each pool. What is wrong with any of them is an error.
func (p *paramsApply) plan(ctx context.Context, client *kube.Client, pools []nodepool.NodePool) ([]application, error) {
	list, err := client.NodePoolList(ctx)
	if err != nil {
		return nil, err
	}
	live := map[string]*unstructured.Unstructured{}
	for _, object := range list {
		live[object.GetName()] = object
	}
	var plan []application
	var problems params.Problems
	for _, pool := range pools {
		x := application{name: pool.Metadata.Name, rendered: pool, live: live[pool.Metadata.Name]}
		err := p.prepare(ctx, client, &x)
		if err != nil {
			problems = append(problems, params.Problem{Text: p.describe(x, err)})
		}
		plan = append(plan, x)
	}
	if problems != nil {
		return nil, problems
	}
	return plan, nil
}

// describe says what is wrong with one pool.
func (p *paramsApply) describe(x application, err error) string {
	text := x.name + ": " + err.Error()
	if kube.IsManagedByOthers(err) {
		text += "\nadd --force-conflicts to take it over"
	}
	return text
}

// prepare fills in what is sent of a pool, and what the cluster has after that.
func (p *paramsApply) prepare(ctx context.Context, client *kube.Client, x *application) (err error) {
	if x.object, err = p.object(x); err != nil {
		return err
	}
	if p.dryRun.value == dryRunClient {
		x.after = x.object
		if x.live != nil {
			x.after = kube.Predict(x.live, x.object)
		}
		return nil
	}
	after, err := client.NodePools().Apply(ctx, x.name, x.object, kube.ApplyOptions{Force: p.force, DryRun: true})
	if err != nil {
		return err
	}
	x.after = after.Object
	return nil
}

// object is what is sent of a pool.
func (p *paramsApply) object(x *application) (map[string]any, error) {
	pool := x.rendered
	if p.budgetsOnly {
		pool = render.BudgetsOnly([]nodepool.NodePool{pool})[0]
	}
	text, err := json.Marshal(pool)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil || !p.budgetsOnly {
		return object, err
	}
	if x.live == nil {
		return nil, fmt.Errorf("%w, and budgets alone make none; --budgets-only=false applies the whole pool", fleet.ErrNoPool)
	}
	return kube.Overlay(kube.Owned(x.live), object), nil
}

// show prints what changes, and returns the pools of which something does.
func (p *paramsApply) show(plan []application) ([]application, error) {
	var changed []application
	for _, x := range plan {
		var before []byte
		if x.live != nil {
			before = specText(x.live.Object)
		}
		text := diff.Diff(x.name+" live", before, x.name+" applied", specText(x.after))
		if len(text) == 0 {
			continue
		}
		changed = append(changed, x)
		if err := writeDiff(p.Out, text, colour(p.Out)); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// specText is what names a NodePool, and its spec, as YAML.
func specText(object map[string]any) []byte {
	metadata, _ := object["metadata"].(map[string]any)
	var text bytes.Buffer
	// Maps of what JSON holds can always be written.
	_ = encode(&text, "yaml", map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": map[string]any{"name": metadata["name"]}, "spec": object["spec"],
	})
	return text.Bytes()
}

// warnOfClaims prints the expiry lines where a window is armed, and how many NodeClaims it does not hold for.
func (p *paramsApply) warnOfClaims(ctx context.Context, client *kube.Client, changed []application) error {
	var pools []nodepool.NodePool
	arms := false
	for _, x := range changed {
		pools = append(pools, x.rendered)
		before, err := liveBudgets(x.live)
		if err != nil {
			return err
		}
		arms = arms || x.rendered.Spec.Disruption.Budgets.Arms(before)
	}
	if !arms {
		return nil
	}
	p.warnOfExpiry()
	f, err := client.NodeClaims(ctx)
	if err != nil {
		p.warn(fmt.Sprintf("how many NodeClaims still expire cannot be told: %s", err))
		return nil
	}
	expire, total := 0, 0
	for _, pool := range f.Status(pools)[:len(pools)] {
		expire += pool.StillExpire()
		total += len(pool.Claims)
	}
	p.notice("%d of %s of these pools still expire; `nodepool status` says when", expire, plural(total, "NodeClaim"))
	return nil
}

// liveBudgets are the budgets of a NodePool of the cluster, none where there is none.
func liveBudgets(live *unstructured.Unstructured) (nodepool.Budgets, error) {
	if live == nil {
		return nil, nil
	}
	manifest, err := kube.Manifest(live)
	if err != nil {
		return nil, err
	}
	budgets, _ := manifest.Budgets()
	return budgets, nil
}

// confirm asks on the terminal.
func (a *app) confirm(question string) bool {
	fmt.Fprintf(a.Err, "%s [y/N] ", question)
	answer, err := bufio.NewReader(a.In).ReadString('\n')
	if err != nil && err != io.EOF {
		return false
	}
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

// apply applies the pools. All have passed a dry run, so that one is hardly refused; but the cluster may change meanwhile.
func (p *paramsApply) apply(ctx context.Context, client *kube.Client, plan []application) error {
	var done []string
	for i, x := range plan {
		if err := client.ApplyNodePool(ctx, x.live, x.object, x.after, p.force); err != nil {
			text := p.describe(x, err)
			if done != nil {
				text += "\napplied before: " + strings.Join(done, ", ")
			}
			if rest := plan[i+1:]; len(rest) > 0 {
				text += "\nnot applied: " + applicationNames(rest)
			}
			return errors.New(text)
		}
		done = append(done, x.name)
	}
	_, err := fmt.Fprintln(p.Out, "Applying NodePools... OK")
	return err
}

func applicationNames(plan []application) string {
	var list []string
	for _, x := range plan {
		list = append(list, x.name)
	}
	return strings.Join(list, ", ")
}
