package conformance

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/require"
	"github.com/yannh/kubeconform/pkg/validator"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/karpenter/pkg/apis"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/yaml"
)

// The benchmarks put the program beside what does the same work with other code. Each pair runs in one process, the
// program first; the other one then reports how many times the program's time it takes, as "times-ours".

// benchmarkLists are the lists of budgets that are asked about.
var benchmarkLists = []struct {
	name    string
	budgets nodepool.Budgets
	// steppedDays are how many days of a year are stepped through, minute by minute: one run is to take seconds.
	steppedDays int
}{
	{"3-budgets", nodepool.Budgets{
		{Nodes: "10%"},
		{Nodes: "0", Reasons: nodepool.Reasons{nodepool.Drifted, nodepool.Underutilized}, Schedule: "0 9 * * MON-FRI", Duration: "8h"},
		{Nodes: "5", Schedule: "@daily", Duration: "30m"},
	}, 365},
	{"50-budgets", fiftyBudgets(), 31},
}

// fiftyBudgets are as many as there may be, of every kind: always active, hourly, daily, on weekdays, monthly.
func fiftyBudgets() nodepool.Budgets {
	budgets := nodepool.Budgets{{Nodes: "10%"}}
	schedules := []string{"0 9 * * *", "30 22 * * MON-FRI", "0 13 * * SAT", "@hourly", "0 0 1 * *", "15 6,18 * * 0,6"}
	for i := 1; i < nodepool.MaxBudgets; i++ {
		budgets = append(budgets, nodepool.Budget{
			Nodes: []string{"0", "1", "5%", "50%", "7"}[i%5], Schedule: schedules[i%len(schedules)],
			Duration: []string{"30m", "4h", "8h", "26h"}[i%4], Reasons: []nodepool.Reasons{nil, {nodepool.Drifted}, {nodepool.Empty, nodepool.Underutilized}}[i%3],
		})
	}
	return budgets
}

// benchmarkYear is where the questions begin.
var benchmarkYear = time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)

// BenchmarkAllowance is one question, as Karpenter asks it at each pass of its disruption loop: how many nodes may be
// disrupted for a reason now.
func BenchmarkAllowance(b *testing.B) {
	const nodes = 1000
	var times []time.Time
	for i := range 512 {
		times = append(times, benchmarkYear.Add(time.Duration(i)*17*time.Hour+time.Duration(i)*time.Minute))
	}
	for _, list := range benchmarkLists {
		pool := benchmarkPool(b, list.budgets)
		evaluator := nodepool.NewEvaluator(list.budgets)
		for _, at := range times {
			require.Equal(b, pool.MustGetAllowedDisruptions(clockAt(at), nodes, karpenterv1.DisruptionReasonDrifted), evaluator.Allowed(nodepool.Drifted, at, nodepool.State{Nodes: nodes}))
		}
		var ours time.Duration
		b.Run(list.name+"/ours", func(b *testing.B) {
			i := 0
			for b.Loop() {
				evaluator.Allowed(nodepool.Drifted, times[i%len(times)], nodepool.State{Nodes: nodes})
				i++
			}
			ours = perRun(b)
		})
		b.Run(list.name+"/karpenter", func(b *testing.B) {
			clock, i := clocktesting.NewFakeClock(benchmarkYear), 0
			for b.Loop() {
				clock.SetTime(times[i%len(times)])
				pool.MustGetAllowedDisruptions(clock, nodes, karpenterv1.DisruptionReasonDrifted)
				i++
			}
			reportTimes(b, perRun(b), ours)
		})
	}
}

// BenchmarkYear is what a reason is allowed over a year. Karpenter has no such question: who wants to know steps through
// the minutes. For the long list a month is stepped through, and its time taken for that of the year in proportion. What
// comes out is the same for each minute.
func BenchmarkYear(b *testing.B) {
	const nodes = 100
	for _, list := range benchmarkLists {
		pool := benchmarkPool(b, list.budgets)
		var ours time.Duration
		var spans []nodepool.RuledSpan
		b.Run(list.name+"/ours", func(b *testing.B) {
			for b.Loop() {
				// Karpenter parses the schedules at each question, so doing it here is part of the work.
				spans = nodepool.NewEvaluator(list.budgets).Timeline(nodepool.Drifted, benchmarkYear, benchmarkYear.AddDate(1, 0, 0), nodes)
			}
			ours = perRun(b)
		})
		b.Run(list.name+"/karpenter-by-the-minute", func(b *testing.B) {
			clock := clocktesting.NewFakeClock(benchmarkYear)
			stepped := make([]int, list.steppedDays*24*60)
			for b.Loop() {
				for i := range stepped {
					clock.SetTime(benchmarkYear.Add(time.Duration(i) * time.Minute))
					allowed, err := pool.GetAllowedDisruptionsByReason(clock, nodes, karpenterv1.DisruptionReasonDrifted)
					if err != nil {
						b.Fatal(err)
					}
					stepped[i] = allowed
				}
			}
			year := perRun(b) * 365 / time.Duration(list.steppedDays)
			b.ReportMetric(year.Seconds(), "s/year")
			reportTimes(b, year, ours)
			requireSameMinutes(b, spans, stepped)
		})
	}
}

// requireSameMinutes holds a timeline against the ceiling of each minute from its beginning on.
func requireSameMinutes(b *testing.B, spans []nodepool.RuledSpan, minutes []int) {
	b.Helper()
	require.NotEmpty(b, spans)
	at := spans[0].From
	for _, want := range minutes {
		for !at.Before(spans[0].To) {
			spans = spans[1:]
		}
		if got := ruledCeiling(spans[0].Ruling); got != want {
			b.Fatalf("at %s the ceiling is %d, and Karpenter's is %d", at, got, want)
		}
		at = at.Add(time.Minute)
	}
}

// lintedDocuments are how many NodePools the stream for BenchmarkLint holds.
const lintedDocuments = 20_000

// BenchmarkLint is a stream of NodePools, from bytes to findings. kubeconform holds them against the schema of the CRD
// alone, and so sees less: no rules in CEL, no schedules, nothing that is dropped.
func BenchmarkLint(b *testing.B) {
	stream := lintedStream(b)
	var ours time.Duration
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		begin := cpuTime(b)
		for b.Loop() {
			pools, unsound := 0, 0
			for manifest, err := range nodepool.Manifests(bytes.NewReader(stream), "stream.yaml") {
				if err != nil {
					b.Fatal(err)
				}
				for _, finding := range manifest.Lint(nodepool.Newest, lintTime) {
					if finding.Severity == nodepool.SeverityError {
						unsound++
						break
					}
				}
				pools++
			}
			requireAllRead(b, pools, unsound)
		}
		ours = (cpuTime(b) - begin) / time.Duration(b.N)
		b.ReportMetric(lintedDocuments/ours.Seconds(), "pools/cpu-s")
	})
	b.Run("kubeconform", func(b *testing.B) {
		b.SetBytes(int64(len(stream)))
		schemas := newKubeconform(b)
		begin := cpuTime(b)
		for b.Loop() {
			results := schemas.Validate("stream.yaml", io.NopCloser(bytes.NewReader(stream)))
			unsound := 0
			for _, result := range results {
				if result.Status != validator.Valid {
					unsound++
				}
			}
			requireAllRead(b, len(results), unsound)
		}
		theirs := (cpuTime(b) - begin) / time.Duration(b.N)
		b.ReportMetric(lintedDocuments/theirs.Seconds(), "pools/cpu-s")
		reportTimes(b, theirs, ours)
	})
}

// lintedStream returns the NodePools of the cases, over and over, no two of them alike.
func lintedStream(b *testing.B) []byte {
	b.Helper()
	files, err := filepath.Glob("../testdata/cases/*.yaml")
	require.NoError(b, err)
	var bodies []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(b, err)
		if body := comments.ReplaceAllString(string(text), ""); strings.Contains(body, "apiVersion: karpenter.sh/v1\n") {
			bodies = append(bodies, strings.TrimSpace(body))
		}
	}
	require.GreaterOrEqual(b, len(bodies), 5)
	var stream bytes.Buffer
	for i := range lintedDocuments {
		body := poolName.ReplaceAllString(bodies[i%len(bodies)], fmt.Sprintf("${1}-%d", i))
		body = consolidateAfter.ReplaceAllString(body, fmt.Sprintf("${1} %dm", 1+i%1000))
		stream.WriteString(body + "\n---\n")
	}
	return bytes.TrimSuffix(stream.Bytes(), []byte("\n---\n"))
}

var (
	comments         = regexp.MustCompile(`(?m)^#.*\n`)
	poolName         = regexp.MustCompile(`(?m)^(  name: \S+)$`)
	consolidateAfter = regexp.MustCompile(`(?m)^(    consolidateAfter:) .*$`)
)

// newKubeconform returns kubeconform with the schema of the CRD, as someone has it who lints NodePools with it.
func newKubeconform(b *testing.B) validator.Validator {
	b.Helper()
	var definition apiextensionsv1.CustomResourceDefinition
	require.NoError(b, yaml.Unmarshal(apis.NodePoolCRD, &definition))
	schema, err := json.Marshal(definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
	require.NoError(b, err)
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "nodepool_v1.json"), schema, 0o600))
	made, err := validator.New([]string{filepath.Join(dir, "{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json")}, validator.Opts{})
	require.NoError(b, err)
	return made
}

// requireAllRead fails unless all documents were read, some of them found sound and some not.
func requireAllRead(b *testing.B, pools, unsound int) {
	b.Helper()
	if pools != lintedDocuments || unsound == 0 || unsound > pools/2 {
		b.Fatalf("%d NodePools of %d, %d of them unsound", pools, lintedDocuments, unsound)
	}
}

// cpuTime is the processor time that the process has used, on all its threads.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// perRun is the time of one run of a benchmark's loop.
func perRun(b *testing.B) time.Duration { return b.Elapsed() / time.Duration(b.N) }

// reportTimes reports how many times the program's time something took.
func reportTimes(b *testing.B, theirs, ours time.Duration) {
	b.Helper()
	b.ReportMetric(float64(theirs)/float64(ours), "times-ours")
}

// benchmarkPool returns a pool of Karpenter's with these budgets.
func benchmarkPool(b *testing.B, budgets nodepool.Budgets) *karpenterv1.NodePool {
	b.Helper()
	decoded, err := karpenterBudgets(budgets)
	require.NoError(b, err)
	return poolOf(decoded)
}
