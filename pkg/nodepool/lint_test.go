package nodepool

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) // a Monday

// readOne reads the one NodePool of a text.
func readOne(t testing.TB, text string) *Manifest {
	t.Helper()
	var manifests []*Manifest
	for manifest, err := range Manifests(strings.NewReader(text), "pool.yaml") {
		require.NoError(t, err)
		manifests = append(manifests, manifest)
	}
	require.Len(t, manifests, 1)
	return manifests[0]
}

// withBudgets is a sound NodePool with the text of its budgets list, from line 17 on.
func withBudgets(budgets string) string {
	return `apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: pool
spec:
  template:
    spec:
      expireAfter: Never
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - key: karpenter.sh/capacity-type
          operator: In
          values: [on-demand]
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
` + budgets
}

// TestCases lints the NodePools that people had trouble with. Their first lines say what has to be found.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 9)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var want []string
			exact := true
			for line := range strings.Lines(string(text)) {
				words := strings.Fields(line)
				if len(words) < 2 || words[0] != "#" {
					continue
				}
				switch words[1] {
				case "error", "warning":
					want = append(want, words[1]+" "+words[2])
				case "any":
					exact = false
				}
			}
			var got []string
			for _, f := range readOne(t, string(text)).Lint(Newest, now) {
				if f.Severity != SeverityInfo {
					got = append(got, string(f.Severity)+" "+f.Rule)
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if exact {
				assert.Equal(t, want, got)
			} else {
				assert.Subset(t, got, want)
			}
		})
	}
}

// TestFindings holds the findings of lists of budgets, with their places, one rule after the other.
func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name, budgets string
		want          []string
	}{
		{"sound", "      - nodes: 10%\n      - nodes: \"0\"\n        reasons: [Drifted]\n        schedule: 0 9 * * MON-FRI\n        duration: 8h", nil},
		{"nodes absent", "      - reasons: [Drifted]", []string{"18:9 error nodes-format"}},
		{"nodes a number", "      - nodes: 5", []string{"18:16 error nodes-format"}},
		{"nodes null", "      - nodes:", []string{"18:15 error nodes-format"}},
		{"nodes of another form", "      - nodes: 101%\n      - nodes: -1\n      - nodes: \"1.5\"\n      - nodes: \"\"", []string{"18:16 error nodes-format", "19:16 error nodes-format", "20:16 error nodes-format", "21:16 error nodes-format"}},
		{"nodes past 32 bits", `      - nodes: "2147483648"`, []string{"18:16 error nodes-range"}},
		{"nodes past 64 bits", `      - nodes: "99999999999999999999"`, []string{"18:16 error nodes-range"}},
		{"nodes that fit", `      - nodes: "2147483647"`, nil},
		{"unknown key", "      - nodes: 10%\n        reason: [Drifted]", []string{"19:9 error unknown-field"}},
		{"a key twice", "      - nodes: 10%\n        nodes: 20%", []string{"19:9 error unknown-field"}},
		{"reasons empty", "      - nodes: 10%\n        reasons: []", []string{"19:18 error reasons-empty"}},
		{"reasons twice", "      - nodes: 10%\n        reasons: [Empty, Drifted, Empty]", []string{"19:35 error reasons-duplicate"}},
		{"reasons unknown", "      - nodes: 10%\n        reasons: [empty, Drift]", []string{"19:19 error reasons-value", "19:26 error reasons-value"}},
		{"reasons no list", "      - nodes: 10%\n        reasons: Drifted", []string{"19:18 error reasons-value"}},
		{"schedule alone", "      - nodes: 10%\n        schedule: '@daily'", []string{"19:19 error schedule-pair"}},
		{"duration alone", "      - nodes: 10%\n        duration: 1h", []string{"19:19 error schedule-pair"}},
		{"schedule that cannot be parsed", "      - nodes: 10%\n        schedule: 0 9 * * 7\n        duration: 1h", []string{"19:19 error schedule-invalid"}},
		{"schedule that the CRD refuses", "      - nodes: 10%\n        schedule: '@every 1h'\n        duration: 1h", []string{"19:19 error schedule-invalid"}},
		{"duration of another form", "      - nodes: 10%\n        schedule: '@daily'\n        duration: 1d", []string{"20:19 error duration-format"}},
		{"duration too long", "      - nodes: 10%\n        schedule: '@daily'\n        duration: 2562048h", []string{"20:19 error duration-format"}},
		{"duration with seconds", "      - nodes: 10%\n      - nodes: 5%\n        schedule: '@daily'\n        duration: 1h30s", []string{"21:19 error duration-format"}},
		{"duration as Go writes it", "      - nodes: 10%\n      - nodes: 5%\n        schedule: '@daily'\n        duration: 12h00m0s", nil},
		{"51 budgets", strings.Repeat("      - nodes: 10%\n", 51), []string{"18:7 error too-many-budgets"}},
		{"budgets a map", "      nodes: 10%", []string{"18:7 error disruption-field"}},
		{"a budget that is text", "      - 10%", []string{"18:9 error disruption-field"}},
		{"merge keys", "      - &base\n        nodes: 10%\n      - <<: *base\n        reasons: [Drifted]\n        schedule: 0 9 * * MON-FRI\n        duration: 8h", []string{"20:9 warning budget-never-decides"}},
		{"an alias", "      - &base\n        nodes: 10\n      - *base", []string{"19:16 error nodes-format", "19:16 error nodes-format"}},

		{"windows that join up", "      - nodes: 10%\n      - nodes: \"1\"\n        schedule: 0 9 * * MON-FRI\n        duration: 72h", []string{"18:9 warning budget-never-decides", "19:9 warning window-never-lifts"}},
		{"a schedule that never fires", "      - nodes: 10%\n      - nodes: \"1\"\n        schedule: 0 0 31 2 *\n        duration: 1h", []string{"18:9 warning budget-never-decides", "19:9 warning window-never-lifts"}},
		{"windows that touch by day", "      - nodes: 10%\n      - nodes: \"1\"\n        schedule: 0 9-16 * * *\n        duration: 1h", nil},
		{"a firing inside", "      - nodes: 10%\n      - nodes: \"1\"\n        schedule: 0 9-16 * * *\n        duration: 2h", []string{"19:9 warning firing-inside-window"}},
		{"a firing inside, over midnight", "      - nodes: 10%\n      - nodes: \"1\"\n        schedule: 0 9 * * MON-FRI\n        duration: 25h", []string{"19:9 warning firing-inside-window"}},
		{"a freeze", "      - nodes: \"0\"", []string{"18:9 warning blocked-always"}},
		{"a freeze by two windows", "      - nodes: 10%\n      - nodes: 0%\n        schedule: 0 0 * * *\n        duration: 12h\n        reasons: [Drifted]\n      - nodes: \"0\"\n        reasons: [Drifted]\n        schedule: 0 12 * * *\n        duration: 12h", []string{"23:9 warning blocked-always"}},
		{"a freeze by two windows, but for a minute", "      - nodes: 10%\n      - nodes: 0%\n        schedule: 0 0 * * *\n        duration: 12h\n        reasons: [Drifted]\n      - nodes: \"0\"\n        reasons: [Drifted]\n        schedule: 0 12 * * *\n        duration: 11h59m", nil},
		{"an empty list", "      []", []string{"18:7 warning reason-unconstrained"}},
		{"a reason without a limit", "      - nodes: 10%\n        reasons: [Drifted, Underutilized]", []string{"18:7 warning reason-unconstrained"}},
		{"no limit on leap days", "      - nodes: 10%\n        schedule: 0 0 1-28,30,31 * *\n        duration: 24h\n      - nodes: 10%\n        schedule: 0 0 29 1,3-12 *\n        duration: 24h", []string{"18:7 warning reason-unconstrained"}},
		{"a budget above another", "      - nodes: \"1\"\n      - nodes: 50%", []string{"19:9 warning budget-never-decides"}},
		{"twice the same", "      - nodes: 10%\n      - nodes: 10%", []string{"18:9 warning budget-never-decides", "19:9 warning budget-never-decides"}},
		{"a window that is over at once", "      - nodes: 10%\n      - nodes: \"0\"\n        schedule: '@daily'\n        duration: 0h", []string{"19:9 warning budget-never-decides"}},
		{"60% beside 70% and 2", "      - nodes: 60%\n      - nodes: 70%\n      - nodes: \"2\"", []string{"18:9 warning budget-never-decides", "19:9 warning budget-never-decides"}},
		{"60% beside 70% and 3", "      - nodes: 60%\n      - nodes: 70%\n      - nodes: \"3\"", []string{"19:9 warning budget-never-decides"}},
		{"a window for empty nodes alone", "      - nodes: 10%\n      - nodes: \"0\"\n        reasons: [Empty]\n        schedule: '@daily'\n        duration: 8h", nil},
		{"a half pair beside a null", "      - nodes: 10%\n        schedule:\n        duration: 8h", []string{"19:18 error schedule-invalid", "20:19 error schedule-pair"}},
		{"a window for empty nodes too", "      - nodes: 10%\n      - nodes: \"0\"\n        schedule: '@daily'\n        duration: 8h", []string{"19:9 warning empty-blocked"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range readOne(t, withBudgets(test.budgets)).Lint(V1_14, now) {
				if f.Severity != SeverityInfo {
					got = append(got, fmt.Sprintf("%d:%d %s %s", f.Line, f.Column, f.Severity, f.Rule))
				}
				assert.NotEmpty(t, f.Message)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestMessages(t *testing.T) {
	for budgets, want := range map[string]string{
		"      - nodes: 5": `spec.disruption.budgets[0].nodes: the number 5 is not a string: the API server refuses the NodePool`,
		"      - nodes: 10%\n      - nodes: 1%\n        schedule: 0 9 * * SAT-SUN\n        duration: 1h":                            `spec.disruption.budgets[1].schedule: Karpenter cannot parse the schedule "0 9 * * SAT-SUN" (beginning of range (6) beyond end of range (0): SAT-SUN), and would stop every disruption of the pool; write "SAT,SUN" for the weekday`,
		"      - nodes: 10%\n        reasons: [Empty]\n      - nodes: 20%\n        schedule: 0 9 * * MON-FRI\n        duration: 8h": `spec.disruption.budgets: no budget limits Underutilized and Drifted from Mon 17:00 to Tue 09:00 UTC each week, so Karpenter may disrupt every node of the pool at once for it; add a budget without schedule and reasons, such as nodes: "10%"`,
		"      - nodes: 10%\n        schedule: 0 0 1 * *\n        duration: 24h":                                                    `spec.disruption.budgets: no budget limits Empty and Underutilized and Drifted from 2026-01-02 00:00 to 2026-02-01 00:00 UTC, so Karpenter may disrupt every node of the pool at once for it; add a budget without schedule and reasons, such as nodes: "10%" (decided from 2026-01-01 to 2054-01-01)`,
	} {
		var messages []string
		for _, f := range readOne(t, withBudgets(budgets)).Lint(V1_14, now) {
			messages = append(messages, f.Path+": "+f.Message)
		}
		assert.Contains(t, messages, want)
	}
}

// TestNumbers shows that a number is taken by its value, as the API server takes it, and not by its spelling.
func TestNumbers(t *testing.T) {
	for text, sound := range map[string]bool{
		"weight: 10": true, "weight: 10.0": true, "weight: 0x10": true, "weight: 1e1": true, "weight: 1_0": true, "weight: 100.5": false, "weight: 101": false,
		"weight: 0.0": false, "weight: .inf": false, "replicas: .0": true, "replicas: 18446744073709551615": false, "replicas: -1": false,
		"limits: {cpu: 0x10}": true, "limits: {cpu: 10.0}": true, "limits: {cpu: 10.5}": false, "limits: {cpu: 18446744073709551615}": false, "limits: {cpu: -1}": true,
	} {
		findings := readOne(t, strings.Replace(withBudgets("      - nodes: \"5\""), "  disruption:", "  "+text+"\n  disruption:", 1)).Lint(Newest, now)
		findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Severity != SeverityError })
		assert.Equal(t, sound, len(findings) == 0, "%s: %v", text, findings)
	}
}

func TestVersions(t *testing.T) {
	rules := func(v Version, text string) string {
		var list []string
		for _, f := range readOne(t, text).Lint(v, now) {
			if f.Severity == SeverityError {
				list = append(list, f.Rule)
			}
		}
		return strings.Join(list, " ")
	}
	unhealthy := withBudgets("      - nodes: 10%\n      - nodes: \"1\"\n        reasons: [Unhealthy]")
	balanced := strings.Replace(withBudgets("      - nodes: 10%"), "WhenEmptyOrUnderutilized", "Balanced", 1)
	bare := strings.Replace(withBudgets("      - nodes: 10%"), "    consolidateAfter: 1m\n", "", 1)
	assert.Equal(t, "reasons-value", rules(V1_14, unhealthy))
	assert.Empty(t, rules(V1_15, unhealthy))
	assert.Equal(t, "disruption-field", rules(V1_13, balanced))
	assert.Empty(t, rules(V1_14, balanced))
	assert.Equal(t, "disruption-field", rules(V1_14, bare))
	assert.Empty(t, rules(V1_15, bare))

	for text, want := range map[string]Version{"1.13": V1_13, "v1.14": V1_14, "1.15.2": V1_15} {
		v, err := ParseVersion(text)
		assert.NoError(t, err)
		assert.Equal(t, want, v)
	}
	for _, text := range []string{"", "1", "1.1", "1.12", "1.16", "1.150", "2.13", "latest"} {
		_, err := ParseVersion(text)
		assert.ErrorContains(t, err, "is not a Karpenter version known here", text)
	}
}

// TestDecisionsHold holds the warnings that are decided against what is true: for lists of budgets whose windows repeat
// weekly, at each boundary of the week and on pools of up to 601 nodes, where 1% passes the highest count used here.
func TestDecisionsHold(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	pick := func(options ...string) string { return options[random.IntN(len(options))] }
	seen := map[string]int{}
	for range 1500 {
		var budgets Budgets
		var text bytes.Buffer
		for range 1 + random.IntN(4) {
			b := Budget{Nodes: pick("0", "1", "2", "3", "5", "0%", "1%", "10%", "33%", "50%", "60%", "70%", "100%")}
			fmt.Fprintf(&text, "      - nodes: %q\n", b.Nodes)
			if random.IntN(2) == 0 {
				b.Reasons = [][]Reason{{Empty}, {Drifted}, {Drifted, Underutilized}, {Empty, Underutilized, Drifted}}[random.IntN(4)]
				fmt.Fprintf(&text, "        reasons: [%s]\n", strings.Trim(fmt.Sprint(b.Reasons), "[]"))
			}
			if random.IntN(2) == 0 {
				b.Schedule = pick("0 0 * * *", "0 12 * * *", "@hourly", "0 9 * * MON-FRI", "0 0 * * SAT,SUN", "0 6,18 * * *", "0 0 31 2 *")
				b.Duration = pick("0h", "1h", "6h", "12h", "24h", "48h", "63h", "72h", "167h")
				fmt.Fprintf(&text, "        schedule: %q\n        duration: %s\n", b.Schedule, b.Duration)
			}
			budgets = append(budgets, b)
		}
		list := strings.ReplaceAll(text.String(), " Underutilized", ", Underutilized")
		list = strings.ReplaceAll(list, "Underutilized Drifted", "Underutilized, Drifted")
		got := map[string]bool{}
		for _, f := range readOne(t, withBudgets(list)).Lint(V1_14, now) {
			require.NotEqual(t, SeverityError, f.Severity, "%s\n%s", list, f.Message)
			switch f.Rule {
			case RuleBudgetNeverDecides:
				got[f.Rule+" "+f.Path] = true
			case RuleBlockedAlways, RuleReasonUnconstrained:
				before, _, _ := strings.Cut(f.Message, " is never")
				before, _, _ = strings.Cut(strings.TrimPrefix(before, "no budget limits "), " from ")
				before, _, _ = strings.Cut(before, " at any time")
				for name := range strings.SplitSeq(strings.TrimPrefix(before, "disruption for "), " and ") {
					got[f.Rule+" "+name] = true
				}
			}
		}
		want := truth(budgets)
		require.Equal(t, want, got, list)
		for key := range want {
			seen[strings.Fields(key)[0]]++
		}
	}
	for _, rule := range []string{RuleBudgetNeverDecides, RuleBlockedAlways, RuleReasonUnconstrained} {
		assert.Greater(t, seen[rule], 100, rule)
	}
}

// truth finds by trying what Lint decides.
func truth(budgets Budgets) map[string]bool {
	all := NewEvaluator(budgets)
	from := mondayOf(now)
	times := []time.Time{from}
	for _, s := range all.sweep(from, from.AddDate(0, 0, 7)) {
		times = append(times, s.from)
	}
	sizes := []int{201, 301, 401, 501, 601}
	for nodes := 1; nodes <= 130; nodes++ {
		sizes = append(sizes, nodes)
	}
	found := map[string]bool{}
	for _, reason := range []Reason{Empty, Underutilized, Drifted} {
		blocked := true
		for _, at := range times {
			for _, nodes := range sizes {
				ceiling := all.Ceiling(reason, at, nodes)
				blocked = blocked && ceiling == 0
				if ceiling == Unlimited {
					found[RuleReasonUnconstrained+" "+string(reason)] = true
				}
			}
		}
		if blocked {
			found[RuleBlockedAlways+" "+string(reason)] = true
		}
	}
	for i := range budgets {
		rest := NewEvaluator(slices.Delete(slices.Clone(budgets), i, i+1))
		if len(budgets) == 1 {
			rest = NewEvaluator(Budgets{})
		}
		decides := false
		for _, reason := range []Reason{Empty, Underutilized, Drifted} {
			for _, at := range times {
				for _, nodes := range sizes {
					decides = decides || all.Ceiling(reason, at, nodes) != rest.Ceiling(reason, at, nodes)
				}
			}
		}
		if !decides {
			found[fmt.Sprintf("%s spec.disruption.budgets[%d]", RuleBudgetNeverDecides, i)] = true
		}
	}
	return found
}

// TestPlainCron shows that what is taken without the pattern is taken by it.
func TestPlainCron(t *testing.T) {
	for text, plain := range map[string]bool{
		"0 9 * * MON-FRI": true, "* * * * *": true, "0 9 * *": false, "0 9 * * * *": false, " 0 9 * * *": false, "0 9 * * * ": false, "0  9 * * *": false,
		"0\t9 * * *": false, "0 9 * * \u00a0": false, "@daily": false, "": false, "    ": false,
	} {
		assert.Equal(t, plain, isPlainCron(text), "%q", text)
		if plain {
			assert.True(t, schedulePattern().MatchString(text), "%q", text)
		}
	}
}
