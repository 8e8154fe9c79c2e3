package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/spf13/cobra"
)

func newNodepoolExplain(a *app) *cobra.Command {
	e := &nodepoolExplain{}
	cmd := &cobra.Command{
		Use: "explain [FILE]... --nodes N", Short: "Say what the budgets of NodePools allow at a time, and why",
		Long: `For each reason: the ceiling, what is left of it, which budgets decide it, and when it next changes.
Nodes that are not ready or being deleted use the ceiling up.`,
		Example: `  convox nodepool explain --nodes 10 -r prod
  convox nodepool explain pool.yaml --nodes 10 --not-ready 1 --at 2026-12-05T10:00:00Z`,
	}
	e.sources = addSources(a, cmd)
	a.addPool(cmd, &e.pools)
	cmd.Flags().Var((*countFlag)(&e.state.Nodes), "nodes", "how many initialized nodes the pool has")
	cmd.Flags().Var((*countFlag)(&e.state.NotReady), "not-ready", "how many of them are not ready")
	cmd.Flags().Var((*countFlag)(&e.state.Deleting), "deleting", "how many of the others are marked for deletion")
	cmd.Flags().Var(&e.at, "at", "the time, in UTC unless it says otherwise (default now)")
	output := addOutput(cmd, "table", "json")
	cmd.Args = e.check
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("nodes") {
			return errors.New("--nodes is missing: say how many nodes the pool has")
		}
		return nil
	}
	cmd.RunE = run(func([]string) error {
		e.at.orElse(time.Now().Truncate(time.Second))
		pools := jsonList{w: a.Out, name: "pools"}
		err := e.each(func(m *nodepool.Manifest) error {
			x := e.explain(m)
			if output.value == "json" {
				return pools.add(x.json())
			}
			return x.text(a)
		})
		if output.value == "json" {
			err = errors.Join(err, pools.end())
		}
		return err
	})
	return cmd
}

type nodepoolExplain struct {
	*sources
	state nodepool.State
	at    timeFlag
	shown int
}

// explanation is what is said of one pool.
type explanation struct {
	name      string
	at        time.Time
	state     nodepool.State
	evaluator *nodepool.Evaluator
	budgets   nodepool.Budgets
	reasons   []nodepool.Reason
	refused   []error // why the API server would not take the list
	first     bool
}

func (e *nodepoolExplain) explain(m *nodepool.Manifest) explanation {
	x := newExplanation(m, e.state, e.at.Time, e.karpenter())
	x.first = e.shown == 0
	e.shown++
	return x
}

// newExplanation says what is allowed of a pool in some state at a time, by the rules of a version.
func newExplanation(m *nodepool.Manifest, state nodepool.State, at time.Time, version nodepool.Version) explanation {
	budgets, refused := m.Budgets()
	return explanation{
		name: m.Name, at: at, state: state, reasons: version.Reasons(), refused: refused,
		evaluator: nodepool.NewEvaluator(budgets), budgets: nodepool.Effective(budgets),
	}
}

// ruled is what is said of one reason.
type ruled struct {
	nodepool.Ruling
	reason     nodepool.Reason
	allowed    int
	nextChange *time.Time
}

func (x explanation) rule(reason nodepool.Reason) ruled {
	if len(x.refused) > 0 {
		return ruled{reason: reason, Ruling: nodepool.Ruling{Budgets: []int{}}}
	}
	r := ruled{reason: reason, Ruling: x.evaluator.Ruling(reason, x.at, x.state.Nodes), allowed: x.evaluator.Allowed(reason, x.at, x.state)}
	if next, found := x.evaluator.NextChange(reason, x.at, x.state.Nodes); found {
		r.nextChange = &next
	}
	return r
}

func (x explanation) errors() []string {
	texts := []string{}
	for _, err := range x.refused {
		texts = append(texts, err.Error())
	}
	if len(texts) == 0 {
		for _, err := range x.evaluator.Errors() {
			texts = append(texts, err.Error())
		}
	}
	return texts
}

func (x explanation) json() map[string]any {
	reasons, budgets := []any{}, []any{}
	for _, reason := range x.reasons {
		r := x.rule(reason)
		entry := map[string]any{"reason": reason, "unlimited": r.Unlimited, "ceiling": r.Ceiling, "allowed": r.allowed, "decidedBy": r.Budgets, "nextChange": formatTime(r.nextChange)}
		if r.Unlimited {
			entry["ceiling"], entry["allowed"] = nil, nil
		}
		reasons = append(reasons, entry)
	}
	if len(x.refused) == 0 {
		for i, budget := range x.budgets {
			budgets = append(budgets, x.budgetJSON(i, budget))
		}
	}
	return map[string]any{
		"name": x.name, "at": x.at.UTC().Format(time.RFC3339Nano), "nodes": x.state.Nodes, "notReady": x.state.NotReady, "deleting": x.state.Deleting,
		"reasons": reasons, "budgets": budgets, "errors": x.errors(),
	}
}

func (x explanation) budgetJSON(i int, budget nodepool.Budget) map[string]any {
	status := x.evaluator.Status(i, x.at, x.state.Nodes)
	entry := map[string]any{
		"index": i, "nodes": budget.Nodes, "reasons": nil, "schedule": nil, "duration": nil, "active": status.Active,
		"ceiling": nil, "windowStart": nil, "windowEnd": nil,
	}
	if budget.Reasons != nil {
		entry["reasons"] = budget.Reasons
	}
	if budget.Schedule != "" {
		entry["schedule"] = budget.Schedule
	}
	if budget.Duration != "" {
		entry["duration"] = budget.Duration
	}
	if status.Readable {
		entry["ceiling"] = status.Ceiling
	}
	if status.HasWindow {
		entry["windowStart"], entry["windowEnd"] = formatTime(&status.Window.From), formatTime(&status.Window.To)
	}
	return entry
}

func (x explanation) text(a *app) error {
	heading := fmt.Sprintf("%s at %s, %s", escape(x.name), x.at.UTC().Format(time.RFC3339), plural(x.state.Nodes, "node"))
	if x.state.NotReady > 0 {
		heading += fmt.Sprintf(", %d not ready", x.state.NotReady)
	}
	if x.state.Deleting > 0 {
		heading += fmt.Sprintf(", %d being deleted", x.state.Deleting)
	}
	if !x.first {
		fmt.Fprintln(a.Out)
	}
	fmt.Fprintf(a.Out, "%s\n\n", heading)
	rows := [][]string{{"REASON", "ALLOWED", "CEILING", "DECIDED BY", "NEXT CHANGE"}}
	for _, reason := range x.reasons {
		r := x.rule(reason)
		row := []string{string(reason), fmt.Sprint(r.allowed), fmt.Sprint(r.Ceiling), budgetList(r.Budgets), formatTimeText(r.nextChange)}
		if r.Unlimited {
			row[1], row[2] = "unlimited", "unlimited"
		}
		rows = append(rows, row)
	}
	if err := table(a.Out, rows); err != nil {
		return err
	}
	if len(x.refused) == 0 && len(x.budgets) > 0 {
		fmt.Fprintln(a.Out)
		if err := table(a.Out, x.budgetRows()); err != nil {
			return err
		}
	}
	for _, text := range x.errors() {
		a.diagnose("WARNING", fmt.Sprintf("%s: nothing is allowed for any reason, since Karpenter cannot read it: %s", escape(x.name), text))
	}
	return nil
}

func (x explanation) budgetRows() [][]string {
	rows := [][]string{{"BUDGET", "NODES", "REASONS", "ACTIVE", "CEILING", "WINDOW"}}
	for i, budget := range x.budgets {
		status := x.evaluator.Status(i, x.at, x.state.Nodes)
		row := []string{fmt.Sprint(i), budget.Nodes, "all", "no", "-", "always"}
		if budget.Reasons != nil {
			row[2] = strings.Join(budget.Reasons.Strings(), ",")
		}
		if status.Active {
			row[3] = "yes"
		}
		if status.Readable {
			row[4] = fmt.Sprint(status.Ceiling)
		}
		switch {
		case !status.Readable:
			row[5] = "unreadable"
		case status.HasWindow:
			row[5] = fmt.Sprintf("%s to %s", status.Window.From.Format(time.RFC3339), status.Window.To.Format(time.RFC3339))
		case budget.Schedule != "" && !status.Active:
			row[5] = "never"
		}
		rows = append(rows, row)
	}
	return rows
}

// budgetList names budgets by their places.
func budgetList(budgets []int) string {
	if len(budgets) == 0 {
		return "-"
	}
	names := make([]string, len(budgets))
	for i, index := range budgets {
		names[i] = fmt.Sprintf("budgets[%d]", index)
	}
	return strings.Join(names, ", ")
}
