package nodepool

import (
	"os"
	"strings"
	"testing"
	"time"
)

// BenchmarkLint lints a stream of the NodePools of a case, from bytes to findings.
func BenchmarkLint(b *testing.B) {
	text, err := os.ReadFile("../../testdata/cases/quiet.yaml")
	if err != nil {
		b.Fatal(err)
	}
	stream := strings.Repeat(string(text)+"---\n", 1000)
	for b.Loop() {
		pools := 0
		for manifest, err := range Manifests(strings.NewReader(stream), "stream.yaml") {
			if err != nil {
				b.Fatal(err)
			}
			manifest.Lint(Newest, now)
			pools++
		}
		if pools != 1000 {
			b.Fatalf("%d pools", pools)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "pools/s")
}

// BenchmarkYear makes the timelines of a year of 50 budgets, for all reasons.
func BenchmarkYear(b *testing.B) {
	evaluator := NewEvaluator(fiftyBudgets())
	from := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for b.Loop() {
		evaluator.Timelines(V1_15.Reasons(), from, from.AddDate(1, 0, 0), 100)
	}
}

// fiftyBudgets are budgets of every kind: always active, daily, on weekdays, monthly.
func fiftyBudgets() Budgets {
	budgets := Budgets{{Nodes: "10%"}}
	schedules := []string{"0 9 * * *", "30 22 * * MON-FRI", "0 13 * * SAT", "@hourly", "0 0 1 * *", "15 6,18 * * 0,6"}
	for i := 1; i < 50; i++ {
		budgets = append(budgets, Budget{
			Nodes: []string{"0", "1", "5%", "50%", "7"}[i%5], Schedule: schedules[i%len(schedules)],
			Duration: []string{"30m", "4h", "8h", "26h"}[i%4], Reasons: []Reasons{nil, {Drifted}, {Empty, Underutilized}}[i%3],
		})
	}
	return budgets
}
