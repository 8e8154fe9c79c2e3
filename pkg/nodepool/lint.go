package nodepool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

// Severity is how bad a finding is.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// The rules that are not about the form of spec.disruption.
const (
	RuleAPIVersion          = "api-version"
	RuleWindowNeverLifts    = "window-never-lifts"
	RuleBlockedAlways       = "blocked-always"
	RuleReasonUnconstrained = "reason-unconstrained"
	RuleBudgetNeverDecides  = "budget-never-decides"
	RuleExpiryNotCovered    = "expiry-not-covered"
	RuleEmptyBlocked        = "empty-blocked"
	RuleFiringInsideWindow  = "firing-inside-window"
	RuleSmallPoolFreeze     = "small-pool-freeze"
)

// Finding is something that is wrong with a NodePool, or that its author should know.
type Finding struct {
	Severity Severity
	Rule     string
	Message  string
	// Path leads to the field at fault, such as "spec.disruption.budgets[1].nodes".
	Path string
	// Line and Column are where it stands, counted from 1.
	Line, Column int
}

// Lint returns what is wrong with a NodePool for Karpenter of version v: errors where the API server or Karpenter would
// refuse or drop something, and else, where the budgets can be read, warnings about what they do. What does not repeat
// weekly is decided over the 28 years from the year of now, in which leap years and weekdays come round once.
func (m *Manifest) Lint(v Version, now time.Time) []Finding {
	if !m.Served() {
		return []Finding{m.finding(SeverityError, RuleAPIVersion, "apiVersion", cmp.Or(shape.Get(m.node, "apiVersion"), m.node), fmt.Sprintf(
			"Karpenter serves NodePools at %s only, not at %s: the API server refuses this one; migrate it to %s", APIVersion, shape.Quote(m.apiVersion), APIVersion))}
	}
	read := m.readSpec()
	findings, budgetsBroken := m.lintForm(v, read)
	if !budgetsBroken {
		findings = append(findings, m.lintBudgets(v, now, read)...)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return findings
}

func (m *Manifest) finding(severity Severity, rule, path string, at *yaml.Node, message string) Finding {
	return Finding{Severity: severity, Rule: rule, Path: path, Message: message, Line: at.Line, Column: at.Column}
}

// lintForm returns the errors, and whether the budgets are among what has them.
func (m *Manifest) lintForm(v Version, read manifestSpec) (findings []Finding, budgetsBroken bool) {
	spec := shape.Get(m.node, "spec")
	if spec == nil {
		return []Finding{m.finding(SeverityError, RuleDisruptionField, "spec", m.node, `"spec" is required: the API server refuses the NodePool`)}, true
	}
	problems := shape.CheckObject(specSchema(v), spec, "spec")
	if read.expiryNode != nil {
		problems = append(problems, shape.Check(expirySchema, read.expiryNode, "spec.template.spec.expireAfter")...)
	}
	for _, problem := range problems {
		findings = append(findings, Finding{
			Severity: SeverityError, Rule: problem.Rule, Path: problem.Path, Message: withConsequence(problem),
			Line: problem.Line, Column: problem.Column,
		})
		budgetsBroken = budgetsBroken || strings.HasPrefix(problem.Path, "spec.disruption.budgets")
	}
	return findings, budgetsBroken || spec.Kind != yaml.MappingNode || read.unreadable != nil
}

// withConsequence is the message of a departure, with what comes of it.
func withConsequence(p shape.Problem) string {
	consequence := "the API server refuses the NodePool"
	switch {
	case p.Rule == shape.UnknownField && strings.HasPrefix(p.Path, "spec.disruption.budgets["):
		consequence = "the API server drops it, unless it validates strictly, and the budget becomes another one"
	case p.Rule == shape.UnknownField:
		consequence = "the API server drops it, unless it validates strictly"
	case strings.HasPrefix(p.Message, "null is not") && !strings.HasSuffix(p.Path, "]"):
		consequence = "the API server drops it, as if it were not written; leave it out"
	case p.Rule == RuleNodesFormat && p.Message == `"nodes" is required`:
		consequence = "the API server fills in " + DefaultNodes + `; write what is meant, such as nodes: "0"`
	case p.Rule == RuleNodesRange, p.Rule == RuleScheduleInvalid, p.Rule == RuleReasonsEmpty:
		// These messages say it themselves.
		return p.Message
	}
	if strings.HasSuffix(p.Message, "?") {
		return p.Message + " T" + consequence[1:]
	}
	return p.Message + ": " + consequence
}

// expirySchema is that of expireAfter, which the warnings need, though what is in the template is not linted.
var expirySchema = &shape.Schema{Kind: shape.String, Rule: RuleDisruptionField, Check: CheckDurationOrNever}
