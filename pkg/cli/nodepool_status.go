package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"rackparams/pkg/fleet"
	"rackparams/pkg/nodepool"
	"rackparams/render"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

func newNodepoolStatus(a *app) *cobra.Command {
	s := &nodepoolStatus{app: a, goal: choiceFlag{of: goals}, timeout: 30 * time.Minute}
	cmd := &cobra.Command{
		Use: "status", Short: "Say how the NodePools of a cluster stand: what they allow now, whether the window is armed, what expires",
		Long: `For each pool of the cluster: its nodes, counted as Karpenter counts them; what each reason is allowed
now, and why; whether the disruption window is armed, that is, whether the live budgets are those that the
rack renders; how many NodeClaims have the wanted expiry; and how many expire soon, and inside the windows
of the coming week.

--from reads what "kubectl get nodepools,nodeclaims,nodes -o json" printed, and needs no cluster. --wait
waits until the window is armed, or until every NodeClaim has the wanted expiry.`,
		Example: `  convox nodepool status -r prod
  kubectl get nodepools,nodeclaims,nodes -o json | convox nodepool status --from - -o json
  convox nodepool status -r prod --wait=rolled --timeout 2h`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&s.from, "from", "", "a `FILE` that kubectl printed, instead of the cluster; - is stdin")
	a.addPool(cmd, &s.pools)
	cmd.Flags().Var(&s.at, "at", "the time, in UTC unless it says otherwise (default now)")
	addKarpenterVersion(cmd, &s.version, "the rack's, or the newest")
	cmd.Flags().Var(&s.goal, "wait", "wait until the pools are armed, or rolled")
	cmd.Flags().Var((*durationFlag)(&s.timeout), "timeout", "how long --wait waits")
	cmd.Flags().BoolVar(&s.watch, "watch", false, "show it again whenever it changes")
	_ = cmd.RegisterFlagCompletionFunc("wait", cobra.FixedCompletions(goals, noFiles))
	output := addOutput(cmd, "table", "json")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return s.check(cmd) }
	cmd.RunE = run(func([]string) error {
		s.format = output.value
		return s.run()
	})
	return cmd
}

type nodepoolStatus struct {
	*app
	from    string
	pools   []string
	at      timeFlag
	version versionFlag
	goal    choiceFlag
	timeout time.Duration
	watch   bool
	format  string

	// rendered are the NodePools that the rack renders, if one is named, and armable is set where a window is among them.
	renderedFor string
	rendered    []nodepool.NodePool
	armable     bool
}

func (s *nodepoolStatus) check(cmd *cobra.Command) error {
	switch live := s.watch || s.goal.value != ""; {
	case s.from != "" && live:
		return errors.New("--from reads what was, and --wait and --watch what comes; leave one of them out")
	case s.watch && s.goal.value != "":
		return errors.New("give --wait or --watch, not both")
	case s.at.given && live:
		return errors.New("--at is for one look; leave it out with --wait and --watch")
	case cmd.Flags().Changed("timeout") && s.goal.value == "":
		return errors.New("--timeout is for --wait; give both")
	}
	return nil
}

func (s *nodepoolStatus) run() error {
	if err := s.loadRendered(); err != nil {
		return err
	}
	ctx := context.Background()
	switch {
	case s.goal.value != "":
		return s.wait(ctx)
	case s.watch:
		return s.follow(ctx)
	}
	f, err := s.read(ctx)
	if err != nil {
		return err
	}
	return s.print(f)
}

// loadRendered renders the rack, if one is named. Without one there is nothing that the live pools are held against.
func (s *nodepoolStatus) loadRendered() error {
	rack, err := s.loadRack()
	if errors.Is(err, errNoRack) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.rendered, err = s.nodePools(rack.Rack, nil); err != nil {
		return err
	}
	if s.version.Version == 0 {
		s.version.Version = rack.Release.Karpenter()
	}
	_, _, s.armable = rack.Window()
	s.armable = s.armable && s.rendered != nil
	s.renderedFor = rack.Name
	return nil
}

// read reads the fleet, from the file or from the cluster.
func (s *nodepoolStatus) read(ctx context.Context) (*fleet.Fleet, error) {
	if s.from == "" {
		client, err := s.cluster()
		if err != nil {
			return nil, err
		}
		return client.Fleet(ctx)
	}
	if s.from == "-" {
		return fleet.Read(s.In, "stdin")
	}
	file, err := openFile(s.from)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	defer file.Close()
	return fleet.Read(file, s.from)
}

// choose returns how the chosen pools stand.
func (s *nodepoolStatus) choose(f *fleet.Fleet) ([]fleet.Pool, error) {
	pools := f.Status(s.rendered)
	if len(s.pools) == 0 {
		return pools, nil
	}
	var names []string
	for _, pool := range pools {
		names = append(names, pool.Name)
	}
	if problems := missingPools(s.pools, names, "the cluster has no pool %s; its pools are %s"); problems != nil {
		return nil, problems
	}
	return slices.DeleteFunc(pools, func(pool fleet.Pool) bool { return !slices.Contains(s.pools, pool.Name) }), nil
}

// print prints how the pools stand.
func (s *nodepoolStatus) print(f *fleet.Fleet) error {
	pools, err := s.choose(f)
	if err != nil {
		return err
	}
	at := s.at
	at.orElse(time.Now().Truncate(time.Second))
	if s.format == "json" {
		s.warnOfVersions(pools)
		list := jsonList{w: s.Out, name: "pools"}
		for _, pool := range pools {
			entry, err := s.status(pool, at.Time).json()
			if err == nil {
				err = list.add(entry)
			}
			if err != nil {
				return err
			}
		}
		return list.end()
	}
	if len(pools) == 0 {
		s.notice("the cluster has no NodePools")
	}
	s.warnOfVersions(pools)
	for i, pool := range pools {
		x := s.status(pool, at.Time)
		x.first = i == 0
		if err := x.text(s.app); err != nil {
			return err
		}
	}
	return nil
}

// warnOfVersions warns of what Karpenter does not read any more.
func (s *nodepoolStatus) warnOfVersions(pools []fleet.Pool) {
	for _, pool := range pools {
		if pool.Live != nil && !pool.Live.Served() {
			s.warnNotServed(pool.Live)
		}
	}
}

// poolStatus is what is said of one pool.
type poolStatus struct {
	explanation
	fleet.Pool
	renderedFor string
	armable     bool
}

func (s *nodepoolStatus) status(pool fleet.Pool, at time.Time) poolStatus {
	x := poolStatus{Pool: pool, renderedFor: s.renderedFor, armable: s.armable}
	if pool.Live != nil {
		x.explanation = newExplanation(pool.Live, pool.State, at, s.version.orNewest())
	} else {
		x.explanation = explanation{name: pool.Name, at: at, state: pool.State, refused: []error{fleet.ErrNoPool}}
	}
	return x
}

// armed says whether the window is armed: nil where the rack renders none for the pool.
func (x poolStatus) armed() *bool {
	if !x.armable || x.Rendered == nil {
		return nil
	}
	armed := x.AsRendered()
	return &armed
}

// difference is the difference from the live budgets to the rendered ones, "" where there is none.
func (x poolStatus) difference() (string, error) {
	switch {
	case x.Rendered == nil || x.AsRendered():
		return "", nil
	case x.Live == nil:
		return fleet.ErrNoPool.Error(), nil
	case len(x.refused) > 0:
		return errors.Join(x.refused...).Error(), nil
	}
	live, rendered := *x.Rendered, *x.Rendered
	live.Spec.Disruption.Budgets = x.budgets.Normal()
	rendered.Spec.Disruption.Budgets = nodepool.Effective(rendered.Spec.Disruption.Budgets).Normal()
	return poolDiff("live", "rendered", render.BudgetsOnly([]nodepool.NodePool{live}), render.BudgetsOnly([]nodepool.NodePool{rendered}))
}

// poolDiff is the unified diff of pools as YAML.
func poolDiff(oldName, newName string, old, new []nodepool.NodePool) (string, error) {
	var before, after bytes.Buffer
	if err := render.YAML(&before, old); err != nil {
		return "", err
	}
	if err := render.YAML(&after, new); err != nil {
		return "", err
	}
	var text bytes.Buffer
	err := writeDiff(&text, diff.Diff(oldName, before.Bytes(), newName, after.Bytes()), false)
	return text.String(), err
}

// windows are the windows of the coming week.
func (x poolStatus) windows() []fleet.Window {
	if len(x.refused) > 0 {
		return nil
	}
	return x.Windows(x.evaluator, x.at, week)
}

const week = 7 * 24 * time.Hour

func (x poolStatus) json() (map[string]any, error) {
	entry := x.explanation.json()
	difference, err := x.difference()
	if err != nil {
		return nil, err
	}
	entry["armed"], entry["difference"] = nil, nil
	if armed := x.armed(); armed != nil {
		entry["armed"] = *armed
	}
	if difference != "" {
		entry["difference"] = difference
	}
	roll := x.Roll()
	entry["roll"] = map[string]any{"want": roll.Want, "done": roll.Done, "total": roll.Total}
	entry["expiring"] = map[string]int{"24h": x.ExpiringWithin(x.at, 24*time.Hour), "168h": x.ExpiringWithin(x.at, week)}
	windows := []any{}
	for _, w := range x.windows() {
		windows = append(windows, map[string]any{"budget": w.Budget, "from": formatTime(&w.From), "to": formatTime(&w.To), "expiring": w.Expiring})
	}
	entry["windows"] = windows
	return entry, nil
}

func (x poolStatus) text(a *app) error {
	if x.Live == nil {
		if !x.first {
			fmt.Fprintln(a.Out)
		}
		fmt.Fprintf(a.Out, "%s at %s\n", escape(x.Name), x.at.UTC().Format(time.RFC3339))
		a.warn(fmt.Sprintf("%s: the rack %s renders it, and the cluster has no NodePool of this name", escape(x.Name), x.renderedFor))
	} else if err := x.explanation.text(a); err != nil {
		return err
	}
	difference, err := x.difference()
	if err != nil {
		return err
	}
	fmt.Fprintln(a.Out)
	if err := table(a.Out, x.rows(difference)); err != nil {
		return err
	}
	if difference == "" || x.Live == nil {
		return nil
	}
	for line := range strings.Lines("\n" + difference) {
		if _, err := io.WriteString(a.Out, strings.TrimRight("  "+escape(strings.TrimSuffix(line, "\n")), " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// rows are the lines below the budgets.
func (x poolStatus) rows(difference string) [][]string {
	var rows [][]string
	switch armed := x.armed(); {
	case x.Rendered == nil:
		// Nothing is wanted of it.
	case armed == nil && difference == "":
		rows = append(rows, []string{"window", "none is set, and the budgets are those that the rack renders"})
	case armed == nil:
		rows = append(rows, []string{"window", "none is set, but the budgets are not those that the rack renders"})
	case *armed:
		rows = append(rows, []string{"window", "armed: the budgets are those that the rack renders"})
	default:
		rows = append(rows, []string{"window", "NOT armed: the budgets are not those that the rack renders"})
	}
	roll := x.Roll()
	rows = append(rows,
		[]string{"roll", fmt.Sprintf("%d of %s with expireAfter %s", roll.Done, plural(roll.Total, "NodeClaim"), roll.Want)},
		[]string{"expiring", fmt.Sprintf("%d within a day, %d within a week", x.ExpiringWithin(x.at, 24*time.Hour), x.ExpiringWithin(x.at, week))},
	)
	shown := map[int]bool{}
	for _, w := range x.windows() {
		// The next window of each budget, and every one in which something expires.
		if shown[w.Budget] && w.Expiring == 0 {
			continue
		}
		shown[w.Budget] = true
		rows = append(rows, []string{"", fmt.Sprintf("%d inside the window of budgets[%d] from %s to %s", w.Expiring, w.Budget, w.From.Format(time.RFC3339), w.To.Format(time.RFC3339))})
	}
	return rows
}
