package cli

import (
	"errors"
	"fmt"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/spf13/cobra"
)

func newNodepoolTimeline(a *app) *cobra.Command {
	t := &nodepoolTimeline{zone: zoneFlag{time.UTC}}
	cmd := &cobra.Command{
		Use: "timeline [FILE]...", Short: "Show what the budgets of NodePools allow over a week, or any other time",
		Long: `What each reason is allowed over time: as a chart of days by hours for the terminal, as the same
picture in SVG, or as JSON. All budgets run in UTC; --tz shows them in another zone.`,
		Example: `  convox nodepool timeline -r prod
  convox nodepool timeline pool.yaml --nodes 20 --tz Europe/Berlin
  convox nodepool timeline pool.yaml --from 2027-01-01 --to 2028-01-01 -o json`,
	}
	t.sources = addSources(a, cmd)
	t.addPool(cmd)
	cmd.Flags().Var(&t.from, "from", "the begin, in UTC unless it says otherwise (default now)")
	cmd.Flags().Var(&t.to, "to", "the end (default a week after the begin)")
	cmd.Flags().IntVar(&t.nodes, "nodes", 100, "how many nodes the pool has, for percentages")
	cmd.Flags().Var(&t.zone, "tz", "the time zone of the chart and of the picture")
	output := addOutput(cmd, "chart", "json", "svg")
	cmd.Args = t.check
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if t.nodes < 0 {
			return errors.New("--nodes is a number from 0 on")
		}
		return t.setSpan(output.format, time.Now())
	}
	cmd.RunE = run(func([]string) error { return t.run(output.format) })
	return cmd
}

type nodepoolTimeline struct {
	*sources
	from, to timeFlag
	nodes    int
	zone     zoneFlag
}

// maxChartDays is how many days a chart or a picture shows; longer ones nobody could read.
const maxChartDays = 62

// setSpan fills in the span where it is not given, and checks it.
func (t *nodepoolTimeline) setSpan(format string, now time.Time) error {
	if t.from.IsZero() {
		t.from.Time = now.UTC().Truncate(time.Minute)
	}
	if t.to.IsZero() {
		t.to.Time = t.from.AddDate(0, 0, 7)
	}
	if !t.to.After(t.from.Time) {
		return fmt.Errorf("--to %s is not after --from %s", &t.to, &t.from)
	}
	if format != "json" && t.to.Sub(t.from.Time) > maxChartDays*24*time.Hour {
		return fmt.Errorf("a chart shows %d days at most; give a shorter span, or -o json", maxChartDays)
	}
	return nil
}

// poolTimeline is what is shown of one pool.
type poolTimeline struct {
	name    string
	reasons []nodepool.Reason
	spans   [][]nodepool.RuledSpan // for each reason
	errors  []string
}

func (t *nodepoolTimeline) run(format string) error {
	var pools []poolTimeline
	err := t.each(func(m *nodepool.Manifest) error {
		pool, err := t.timeline(m)
		pools = append(pools, pool)
		return err
	})
	if err != nil && !errors.Is(err, errSilent) {
		return err
	}
	var failed error
	switch format {
	case "json":
		failed = encode(t.Out, "json", t.json(pools))
	case "svg":
		failed = writeSVG(t.Out, t, pools)
	default:
		failed = writeChart(t.Out, t, pools, colour(t.Out))
	}
	for _, pool := range pools {
		for _, text := range pool.errors {
			t.warn(fmt.Sprintf("%s: nothing is allowed for any reason, since Karpenter cannot read it: %s", pool.name, text))
		}
	}
	return errors.Join(failed, err)
}

// maxTimelineChanges is how many changes a timeline may hold: thirty years of the busiest pools that people write.
const maxTimelineChanges = 2_000_000

func (t *nodepoolTimeline) timeline(m *nodepool.Manifest) (poolTimeline, error) {
	budgets, refused := m.Budgets()
	pool := poolTimeline{name: m.Name, reasons: t.karpenter().Reasons()}
	if len(refused) > 0 {
		// What the API server refuses allows nothing that could be shown.
		for range pool.reasons {
			pool.spans = append(pool.spans, []nodepool.RuledSpan{{From: t.from.Time, To: t.to.Time, Ruling: nodepool.Ruling{Budgets: []int{}}}})
		}
		for _, err := range refused {
			pool.errors = append(pool.errors, err.Error())
		}
		return pool, nil
	}
	evaluator := nodepool.NewEvaluator(budgets)
	if changes := evaluator.ChangesPerDay() * int(t.to.Sub(t.from.Time).Hours()/24); changes > maxTimelineChanges {
		return pool, fmt.Errorf("%s: its budgets change up to %d times a day, which is too much for so long a span; give a shorter one", m.Name, evaluator.ChangesPerDay())
	}
	pool.spans = evaluator.Timelines(pool.reasons, t.from.Time, t.to.Time, t.nodes)
	for _, err := range evaluator.Errors() {
		pool.errors = append(pool.errors, err.Error())
	}
	return pool, nil
}

func (t *nodepoolTimeline) json(pools []poolTimeline) any {
	list := []any{}
	for _, pool := range pools {
		reasons := []any{}
		for i, reason := range pool.reasons {
			spans := []any{}
			for _, span := range pool.spans[i] {
				entry := map[string]any{"from": formatTime(&span.From), "to": formatTime(&span.To), "unlimited": span.Unlimited, "ceiling": span.Ceiling, "budgets": span.Budgets}
				if span.Unlimited {
					entry["ceiling"] = nil
				}
				spans = append(spans, entry)
			}
			reasons = append(reasons, map[string]any{"reason": reason, "spans": spans})
		}
		list = append(list, map[string]any{"name": pool.name, "from": formatTime(&t.from.Time), "to": formatTime(&t.to.Time), "reasons": reasons})
	}
	return map[string]any{"pools": list}
}
