package cli

import (
	"errors"
	"fmt"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/spf13/cobra"
)

func newNodepoolTimeline(a *app) *cobra.Command {
	t := &nodepoolTimeline{nodes: 100, zone: zoneFlag{time.UTC}}
	cmd := &cobra.Command{
		Use: "timeline [FILE]...", Short: "Show what the budgets of NodePools allow over a week, or any other time",
		Long: `What each reason is allowed over time: as a chart of days by hours for the terminal, as the same
picture in SVG, or as JSON. All budgets run in UTC; --tz shows them in another zone.`,
		Example: `  convox nodepool timeline -r prod
  convox nodepool timeline pool.yaml --nodes 20 --tz Europe/Berlin
  convox nodepool timeline pool.yaml --from 2027-01-01 --to 2028-01-01 -o json`,
	}
	t.sources = addSources(a, cmd)
	a.addPool(cmd, &t.pools)
	cmd.Flags().Var(&t.from, "from", "the begin, in UTC unless it says otherwise (default now)")
	cmd.Flags().Var(&t.to, "to", "the end (default a week after the begin)")
	cmd.Flags().Var((*countFlag)(&t.nodes), "nodes", "how many nodes the pool has, for percentages")
	cmd.Flags().Var(&t.zone, "tz", "the time zone of the chart and of the picture")
	_ = cmd.RegisterFlagCompletionFunc("tz", completeZones)
	output := addOutput(cmd, "chart", "json", "svg")
	cmd.Args = t.check
	cmd.PreRunE = func(*cobra.Command, []string) error {
		return t.setSpan(output.value, time.Now())
	}
	cmd.RunE = run(func([]string) error { return t.run(output.value) })
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
	t.from.orElse(now.Truncate(time.Minute))
	t.to.orElse(t.from.AddDate(0, 0, 7))
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
	list := jsonList{w: t.Out, name: "pools"}
	err := t.each(func(m *nodepool.Manifest) error {
		pool, err := t.timeline(m)
		if err != nil {
			return err
		}
		for _, text := range pool.errors {
			t.warn(fmt.Sprintf("%s: nothing is allowed for any reason, since Karpenter cannot read it: %s", escape(pool.name), text))
		}
		if format == "json" {
			return list.add(t.json(pool))
		}
		pools = append(pools, pool)
		return nil
	})
	switch {
	case format == "json":
		return errors.Join(err, list.end())
	case err != nil && !errors.Is(err, errSilent):
		return err
	case format == "svg":
		return errors.Join(err, writeSVG(t.Out, t, pools))
	}
	return errors.Join(err, writeChart(t.Out, t, pools, colour(t.Out)))
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
	// A time.Duration holds no more than 292 years.
	days := int(t.to.Unix()-t.from.Unix())/(24*60*60) + 1
	if evaluator.ChangesPerDay()*days > maxTimelineChanges {
		return pool, fmt.Errorf("%s: its budgets change up to %d times a day, which is too much for so long a span; give a shorter one", m.Name, evaluator.ChangesPerDay())
	}
	pool.spans = evaluator.Timelines(pool.reasons, t.from.Time, t.to.Time, t.nodes)
	for _, err := range evaluator.Errors() {
		pool.errors = append(pool.errors, err.Error())
	}
	return pool, nil
}

func (t *nodepoolTimeline) json(pool poolTimeline) any {
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
	return map[string]any{"name": pool.name, "from": formatTime(&t.from.Time), "to": formatTime(&t.to.Time), "reasons": reasons}
}
