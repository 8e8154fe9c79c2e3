package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"rackparams/pkg/nodepool"

	"github.com/spf13/cobra"
)

func newNodepoolLint(a *app) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "lint [FILE]...", Short: "Find what is wrong with the disruption budgets of NodePools",
		Long: `Reads NodePools from files, folders or stdin (-), or those that the rack renders, and prints what
Karpenter would refuse, drop or take otherwise than it reads. The exit status is 1 with an error, or
with --strict a warning.`,
		Example: `  convox nodepool lint nodepools/
  kubectl get nodepools -o yaml | convox nodepool lint - --strict
  convox nodepool lint -r prod -o github`,
	}
	s := addSources(a, cmd)
	cmd.Flags().BoolVar(&strict, "strict", false, "fail with a warning too")
	output := addOutput(cmd, "text", "json", "github")
	cmd.Args = s.check
	cmd.RunE = run(func([]string) error {
		l := lintRun{sources: s, report: reporters[output.value](a.Out), now: time.Now()}
		if err := l.run(); err != nil {
			return err
		}
		if l.counts.errors > 0 || l.failed || strict && l.counts.warnings > 0 {
			return errSilent
		}
		return nil
	})
	return cmd
}

// lintCounts are what was found.
type lintCounts struct{ pools, errors, warnings, infos, unreadable int }

func (c lintCounts) String() string {
	text := fmt.Sprintf("%s: %s, %s, %s", plural(c.pools, "NodePool"), plural(c.errors, "error"), plural(c.warnings, "warning"), plural(c.infos, "info"))
	if c.unreadable > 0 {
		text += fmt.Sprintf(", and %s that cannot be read", plural(c.unreadable, "document"))
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// reporter writes findings as they are found.
type reporter interface {
	finding(m *nodepool.Manifest, f nodepool.Finding) error
	// unreadable takes what could not be read; it reports whether that is for stderr.
	unreadable(err error) (diagnose bool, failed error)
	end(counts lintCounts) error
}

var reporters = map[string]func(io.Writer) reporter{
	"text":   func(w io.Writer) reporter { return textReport{w} },
	"json":   func(w io.Writer) reporter { return &jsonReport{findings: jsonList{w: w, name: "findings"}} },
	"github": func(w io.Writer) reporter { return githubReport{w} },
}

type lintRun struct {
	*sources
	report reporter
	now    time.Time
	counts lintCounts
	failed bool // something could not be read
}

func (l *lintRun) run() error {
	for manifest, err := range l.manifests() {
		if err != nil {
			l.failed = true
			var readError *nodepool.ReadError
			if errors.As(err, &readError) {
				l.counts.unreadable++
			}
			diagnose, failed := l.report.unreadable(err)
			if failed != nil {
				return failed
			}
			if diagnose {
				l.printError(err)
			}
			continue
		}
		l.counts.pools++
		for _, f := range manifest.Lint(l.karpenter(), l.now) {
			switch f.Severity {
			case nodepool.SeverityError:
				l.counts.errors++
			case nodepool.SeverityWarning:
				l.counts.warnings++
			default:
				l.counts.infos++
			}
			if err := l.report.finding(manifest, f); err != nil {
				return err
			}
		}
	}
	if l.counts.pools == 0 && !l.failed && len(l.args) > 0 {
		l.notice("there is no NodePool in %s", strings.Join(l.args, ", "))
	}
	return l.report.end(l.counts)
}

// textReport writes a finding a line, as compilers do.
type textReport struct{ w io.Writer }

func (r textReport) finding(m *nodepool.Manifest, f nodepool.Finding) error {
	_, err := fmt.Fprintf(r.w, "%s:%d:%d: %s: %s [%s]\n", escape(m.File), f.Line, f.Column, f.Severity, escape(f.Message), f.Rule)
	return err
}

func (r textReport) unreadable(error) (bool, error) { return true, nil }

func (r textReport) end(counts lintCounts) error {
	_, err := fmt.Fprintln(r.w, counts)
	return err
}

// jsonReport writes one object with the findings, how many there are, and what could not be read.
type jsonReport struct {
	findings jsonList
	errors   []any
}

func (r *jsonReport) finding(m *nodepool.Manifest, f nodepool.Finding) error {
	return r.findings.add(map[string]any{
		"file": m.File, "line": f.Line, "column": f.Column, "severity": f.Severity, "rule": f.Rule, "message": f.Message, "path": f.Path, "pool": m.Name,
	})
}

func (r *jsonReport) unreadable(err error) (bool, error) {
	entry := map[string]any{"message": err.Error()}
	var readError *nodepool.ReadError
	if errors.As(err, &readError) {
		entry = map[string]any{"file": readError.File, "line": readError.Line, "message": readError.Message}
	}
	r.errors = append(r.errors, entry)
	return false, nil
}

func (r *jsonReport) end(counts lintCounts) error {
	return r.findings.end(
		jsonMember{"summary", map[string]int{"pools": counts.pools, "errors": counts.errors, "warnings": counts.warnings, "infos": counts.infos}},
		jsonMember{"unreadable", append([]any{}, r.errors...)})
}

// githubReport writes workflow commands, which GitHub shows beside the lines of a pull request.
type githubReport struct{ w io.Writer }

func (r githubReport) finding(m *nodepool.Manifest, f nodepool.Finding) error {
	command := map[nodepool.Severity]string{nodepool.SeverityError: "error", nodepool.SeverityWarning: "warning", nodepool.SeverityInfo: "notice"}[f.Severity]
	return r.annotate(command, m.File, f.Line, f.Column, f.Rule, f.Message)
}

func (r githubReport) annotate(command, file string, line, column int, title, message string) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	_, err := fmt.Fprintf(r.w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", command, property.Replace(escape(file)), line, max(column, 1), property.Replace(title), text.Replace(escape(message)))
	return err
}

func (r githubReport) unreadable(err error) (bool, error) {
	var readError *nodepool.ReadError
	if !errors.As(err, &readError) {
		return true, nil
	}
	return false, r.annotate("error", readError.File, readError.Line, readError.Column, "unreadable", readError.Message)
}

func (r githubReport) end(lintCounts) error { return nil }
