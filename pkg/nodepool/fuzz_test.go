package nodepool

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzManifests reads, lints and evaluates whatever comes. Nothing may panic, each finding has a place inside the text,
// and what cannot be read has one too.
func FuzzManifests(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/cases/*.yaml")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","spec":{"disruption":{"budgets":[{"nodes":"1"}]}}}`,
		"kind: List\nitems:\n- &a {kind: NodePool, apiVersion: karpenter.sh/v1, spec: {<<: *a}}\n",
		"---\n...\n%YAML 1.1\n---\n{{ .Values }}\n", "a: [\n---\nkind: NodePool\n", "\ufeff{}{}", "kind: NodePool\nspec:\n  disruption:\n    budgets: !!binary aGk=\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := bytes.Count(text, []byte{'\n'}) + 1
		for manifest, err := range Manifests(bytes.NewReader(text), "fuzz") {
			if err != nil {
				if e, ok := err.(*ReadError); !ok || e.Line < 1 || e.Line > lines+1 {
					t.Fatalf("%#v", err)
				}
				continue
			}
			for _, version := range []Version{V1_13, V1_15} {
				for _, finding := range manifest.Lint(version, now) {
					if finding.Line < 1 || finding.Line > lines || finding.Column < 1 || finding.Rule == "" || finding.Message == "" {
						t.Fatalf("%#v", finding)
					}
				}
			}
			budgets, refused := manifest.Budgets()
			if refused != nil {
				continue
			}
			evaluator := NewEvaluator(budgets)
			if evaluator.ChangesPerDay() > 3000 {
				continue
			}
			for i, timeline := range evaluator.Timelines(V1_15.Reasons(), now, now.Add(30*time.Hour), 7) {
				at := now
				for _, span := range timeline {
					if !span.From.Equal(at) || !span.To.After(span.From) {
						t.Fatalf("%v", timeline)
					}
					ceiling := evaluator.Ceiling(V1_15.Reasons()[i], span.From, 7)
					if want := span.Ceiling; !span.Unlimited && len(budgets) <= maxSwept && ceiling != want {
						t.Fatalf("%d, not %d", ceiling, want)
					}
					at = span.To
				}
			}
		}
	})
}
