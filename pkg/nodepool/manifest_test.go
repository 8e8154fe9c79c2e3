package nodepool

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readAll describes what is in a stream: the NodePools with the lines on which they begin, and what cannot be read.
func readAll(t *testing.T, text string) string {
	t.Helper()
	var found []string
	for manifest, err := range Manifests(strings.NewReader(text), "f") {
		var readError *ReadError
		switch {
		case errors.As(err, &readError):
			found = append(found, fmt.Sprintf("error at %d", readError.Line))
		case err != nil:
			t.Fatal(err)
		default:
			found = append(found, fmt.Sprintf("%s at %d:%d", manifest.Name, manifest.node.Line, manifest.node.Column))
		}
	}
	return strings.Join(found, ", ")
}

// pool is a NodePool in one line.
func pool(name string) string {
	return fmt.Sprintf("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: %s}}", name)
}

// jsonPool is one in JSON.
func jsonPool(name string) string {
	return fmt.Sprintf(`{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": %q}}`, name)
}

func TestManifests(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "",
		"---\n---\n":         "",
		"# only a comment\n": "",
		pool("a"):            "a at 1:1",
		"---\n" + pool("a") + "\n---\n" + pool("b") + "\n...\n": "a at 2:1, b at 4:1",
		"\ufeff---\r\n" + pool("a") + "\r\n---\r\n" + pool("b"): "a at 2:1, b at 4:1",
		"%YAML 1.1\n---\n" + pool("a"):                          "a at 3:1",
		"x: 1\n...\n" + pool("a") + "\n...\n---\n" + pool("b"):  "a at 3:1, b at 6:1",
		"--- " + pool("a"): "a at 1:5",
		"text: |\n  ---\n" + "x: 1\n---\n" + pool("a"): "a at 5:1",
		"a: [\n---\n" + pool("b"):                      "error at 1, b at 3:1",
		"\ta: 1\n---\n" + pool("b"):                    "error at 1, b at 3:1",
		"a: \xff\n---\n" + pool("b"):                   "error at 1, b at 3:1",
		jsonPool("a"):                                  "a at 1:1",
		"\n " + jsonPool("a") + "\n" + jsonPool("b"):   "a at 2:2, b at 3:1",
		"---\n" + jsonPool("\U0001f600"):               "\U0001f600 at 2:1",
		`{"kind": "List", "items": [` + jsonPool("a") + ",\n" + jsonPool("b") + "]}":                                       "a at 1:28, b at 2:1",
		`{"kind": "NodePoolList", "apiVersion": "karpenter.sh/v1", "items": [{"metadata": {"name": "a"}}, {"kind": "x"}]}`: "a at 1:69",
		"kind: List\nitems: x\n":                                         "",
		"kind: List\nitems:\n- " + pool("a"):                             "a at 3:3",
		"kind: List\nitems:\n- kind: List\n  items: [" + pool("a") + "]": "",
		"kind: NodePool\napiVersion: compute.example.com/v1":             "",
		"kind: NodePool\n":                                               " at 1:1",
		"kind: Provisioner\napiVersion: karpenter.sh/v1alpha5":           "",
		"[1, 2]":                   "",
		"just text":                "",
		"&a [*a]":                  "",
		strings.Repeat("[", 20000): "error at 1",
		strings.Repeat("a", maxDocumentBytes+1) + "\n---\n" + pool("b"):   "error at 1, b at 3:1",
		strings.Repeat("- a\n", maxDocumentParts+1) + "---\n" + pool("b"): fmt.Sprintf("error at 1, b at %d:1", maxDocumentParts+3),
	} {
		assert.Equal(t, want, readAll(t, text), "%.100q", text)
	}
}

// TestHostileDocuments reads documents that are made to take long. What bounds them is counted, and not the time.
func TestHostileDocuments(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 12; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	bomb += "apiVersion: karpenter.sh/v1\nkind: NodePool\nspec:\n  template: {}\n  disruption: {consolidateAfter: 1m, budgets: *a11}\n"
	findings := readOne(t, bomb).Lint(Newest, now)
	require.NotEmpty(t, findings)
	assert.LessOrEqual(t, len(findings), 1100)

	budgets := strings.Repeat("      - nodes: 5\n", 100_000)
	findings = readOne(t, withBudgets(budgets)).Lint(Newest, now)
	assert.LessOrEqual(t, len(findings), 1100)

	var busy strings.Builder
	for i := range 50 {
		fmt.Fprintf(&busy, "      - nodes: \"%d\"\n        schedule: \"%d-59/%d * * * *\"\n        duration: %dm\n", i+1, i%7, 2+i%13, 1+i%5)
	}
	findings = readOne(t, withBudgets(busy.String())).Lint(V1_14, now)
	require.NotEmpty(t, findings)
	assert.Equal(t, SeverityWarning, findings[0].Severity)

	assert.Equal(t, "error at 1", readAll(t, strings.Repeat("{}", 2_000_000)))
	assert.Empty(t, readAll(t, strings.Repeat("{}\n", 300_000)))
	assert.Empty(t, readAll(t, strings.Repeat("{}", 300_000)))
	assert.Equal(t, "a at 1:1, b at 1:82", readAll(t, jsonPool("a")+" "+jsonPool("b")))
}

func TestStatusAndNextChange(t *testing.T) {
	evaluator := NewEvaluator(Budgets{
		{Nodes: "10%"},
		{Nodes: "0", Reasons: Reasons{Drifted}, Schedule: "0 9 * * MON-FRI", Duration: "8h"},
		{Nodes: "3", Schedule: "0 0 29 2 *", Duration: "24h"},
		{Nodes: "2", Schedule: "@hourly", Duration: "1h"},
		{Nodes: "x"},
		{Nodes: "1", Schedule: "0 9 * * 7", Duration: "1h"},
	})
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC) // a Tuesday
	for i, want := range []string{
		"true 1 true", "true 0 true 2026-12-01T09 2026-12-01T17", "false 3 true 2028-02-29T00 2028-03-01T00", "true 2 true", "true 0 false", "false 0 false",
	} {
		s := evaluator.Status(i, at, 10)
		got := fmt.Sprintf("%v %v %v", s.Active, s.Ceiling, s.Readable)
		if s.HasWindow {
			got += s.Window.From.Format(" 2006-01-02T15") + s.Window.To.Format(" 2006-01-02T15")
		}
		assert.Equal(t, want, got, i)
	}
	readable := NewEvaluator(Budgets{{Nodes: "10%"}, {Nodes: "0", Reasons: Reasons{Drifted}, Schedule: "0 9 * * MON-FRI", Duration: "8h"}, {Nodes: "0", Reasons: Reasons{Empty}, Schedule: "0 0 29 2 *", Duration: "24h"}})
	for reason, want := range map[Reason]string{Drifted: "2026-12-01T17:00:00Z", Empty: "2028-02-29T00:00:00Z", Underutilized: ""} {
		next, found := readable.NextChange(reason, at, 10)
		assert.Equal(t, want != "", found, reason)
		if found {
			assert.Equal(t, want, next.Format(time.RFC3339), reason)
		}
	}
}

func TestAllowed(t *testing.T) {
	at := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		budgets Budgets
		reason  Reason
		state   State
		want    int
	}{
		{nil, Drifted, State{Nodes: 19}, 2},                                      // the API server's 10%, rounded up
		{nil, Drifted, State{Nodes: 10, NotReady: 1}, 0},                         // one NotReady node uses it up
		{nil, Unhealthy, State{Nodes: 10, NotReady: 1}, 1},                       // which repair does not mind
		{nil, Unhealthy, State{Nodes: 10, NotReady: 1, Deleting: 1}, 0},          //
		{Budgets{}, Drifted, State{Nodes: 10, NotReady: 1}, Unlimited - 1},       // no budget, no limit
		{Budgets{{Nodes: "20%"}}, Drifted, State{Nodes: 19}, 4},                  //
		{Budgets{{Nodes: "0%"}}, Drifted, State{Nodes: 19}, 0},                   //
		{Budgets{{Nodes: "5"}, {Nodes: "50%"}}, Drifted, State{Nodes: 8}, 4},     // the least wins
		{Budgets{{Nodes: "5", Reasons: Reasons{}}}, Drifted, State{}, Unlimited}, // an empty list is no reason
		{Budgets{{Nodes: "5", Reasons: Reasons{Empty}}}, Drifted, State{}, Unlimited},
		{Budgets{{Nodes: "4294967297"}}, Drifted, State{Nodes: 10}, 1},           // 32 bits
		{Budgets{{Nodes: "2147483648"}}, Drifted, State{Nodes: 10}, 0},           // and their sign
		{Budgets{{Nodes: "99999999999999999999"}}, Drifted, State{Nodes: 10}, 0}, // past 64 it cannot be read
		{Budgets{{Nodes: "99999999999999999999", Reasons: Reasons{Empty}}}, Drifted, State{Nodes: 10}, 0},
		{Budgets{{Nodes: "99999999999999999999", Schedule: "0 11 * * *", Duration: "1h"}}, Drifted, State{Nodes: 10}, Unlimited}, // but is read while active only
		{Budgets{{Nodes: "5"}, {Nodes: "1", Reasons: Reasons{Empty}, Schedule: "0 9 * * 7", Duration: "1h"}}, Drifted, State{Nodes: 10}, 0},
		{Budgets{{Nodes: "1", Schedule: "0 9 * * *", Duration: "1h"}}, Drifted, State{Nodes: 10}, Unlimited}, // half open
		{Budgets{{Nodes: "1", Schedule: "0 10 * * *", Duration: "1h"}}, Drifted, State{Nodes: 10}, 1},
		{Budgets{{Nodes: "1", Schedule: "0 0 31 2 *", Duration: "1h"}}, Drifted, State{Nodes: 10}, 1}, // never fires, always active
	} {
		assert.Equal(t, test.want, NewEvaluator(test.budgets).Allowed(test.reason, at, test.state), "%v", test)
	}
}

// TestHostileEvaluation asks what takes long where nobody bounds it.
func TestHostileEvaluation(t *testing.T) {
	busy := Budgets{{Nodes: "0"}}
	for range 49 {
		busy = append(busy, Budget{Nodes: "5", Schedule: "*/2 * * * *", Duration: "1m"})
	}
	_, found := NewEvaluator(busy).NextChange(Drifted, now, 10)
	assert.False(t, found)

	keys := make([]string, 3000)
	for i := range keys {
		keys[i] = fmt.Sprintf("k%d: 1", i)
	}
	merged := "x: &big {" + strings.Join(keys, ", ") + "}\n"
	findings := readOne(t, merged+withBudgets(strings.Repeat("      - {<<: *big}\n", 3000))).Lint(Newest, now)
	assert.NotEmpty(t, findings)

	var reasons strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&reasons, "r%d, ", i)
	}
	findings = readOne(t, withBudgets("      - {nodes: \"1\", reasons: ["+reasons.String()+"x]}\n")).Lint(Newest, now)
	assert.NotEmpty(t, findings)
}
