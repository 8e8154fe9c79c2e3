package nodepool

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// BenchmarkLint lints streams of the NodePools of a case, from bytes to findings.
func BenchmarkLint(b *testing.B) {
	text, err := os.ReadFile("../../testdata/cases/quiet.yaml")
	if err != nil {
		b.Fatal(err)
	}
	for _, documents := range []int{1, 100, 10_000, 100_000} {
		b.Run(fmt.Sprintf("documents=%d", documents), func(b *testing.B) {
			stream := strings.Repeat(string(text)+"---\n", documents)
			for b.Loop() {
				pools := 0
				for manifest, err := range Manifests(strings.NewReader(stream), "stream.yaml") {
					if err != nil {
						b.Fatal(err)
					}
					manifest.Lint(Newest, now)
					pools++
				}
				if pools != documents {
					b.Fatalf("%d pools", pools)
				}
			}
		})
	}
}

// BenchmarkAllowed asks for an allowance of lists of budgets.
func BenchmarkAllowed(b *testing.B) {
	for _, n := range []int{1, 10, 50} {
		b.Run(fmt.Sprintf("budgets=%d", n), func(b *testing.B) {
			evaluator := NewEvaluator(fiftyBudgets()[:n])
			for b.Loop() {
				evaluator.Allowed(Drifted, now, State{Nodes: 100, NotReady: 1})
			}
		})
	}
}

// BenchmarkTimelines makes the timelines of 50 budgets, for all reasons.
func BenchmarkTimelines(b *testing.B) {
	from := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, span := range []struct {
		name string
		to   time.Time
	}{{"day", from.AddDate(0, 0, 1)}, {"week", from.AddDate(0, 0, 7)}, {"year", from.AddDate(1, 0, 0)}, {"ten years", from.AddDate(10, 0, 0)}} {
		b.Run(span.name, func(b *testing.B) {
			evaluator := NewEvaluator(fiftyBudgets())
			for b.Loop() {
				evaluator.Timelines(V1_15.Reasons(), from, span.to, 100)
			}
		})
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
