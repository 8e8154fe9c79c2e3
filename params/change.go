package params

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rackparams/pkg/shape"
)

// Change is what someone wants to do to the parameters of a rack.
type Change struct {
	// Set holds the values to set. An empty one clears its parameter.
	Set map[string]string
	// Unset are the names whose stored values go, so that the defaults hold.
	Unset []string
	// Install is set while the rack is being installed, when the parameters that are fixed then may be given.
	Install bool
	// Force passes unknown and managed names, release gates and destructive changes, each with a warning.
	Force bool
	// ReadFile reads the files that values of JSON parameters name; nil refuses them.
	ReadFile ReadFile
}

// Outcome is a change that passed.
type Outcome struct {
	// Rack is the rack as it will be.
	Rack Rack
	// Warnings are what to know about the change, in the order of parameter names.
	Warnings []string
	// ArmsWindow is set when the change gives a disruption window parameter a value, for which ExpiryWarning is due.
	ArmsWindow bool
}

// Problems is everything that is wrong with a change, in the order of parameter names.
type Problems []Problem

// Problem is one thing that is wrong.
type Problem struct {
	Text string
	// Forcible problems are those that Change.Force turns into warnings.
	Forcible bool
}

// Error returns the problems, a line each.
func (p Problems) Error() string {
	texts := make([]string, len(p))
	for i, problem := range p {
		texts[i] = problem.Text
	}
	return strings.Join(texts, "\n")
}

// Apply checks a change against what the rack holds. It returns the rack as it will be, or Problems with all that is
// wrong.
func (r Rack) Apply(c Change) (Outcome, error) {
	t := &transition{before: r, change: c, in: context{karpenter: r.Release.Karpenter(), readFile: c.ReadFile}}
	t.after = Rack{Provider: r.Provider, Release: r.Release, stored: maps.Clone(r.stored)}
	if t.after.stored == nil {
		t.after.stored = map[string]string{}
	}
	t.setRelease()
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		t.set(name, c.Set[name])
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(c.Unset))) {
		t.unset(name)
	}
	if t.enablesKarpenter() {
		t.recheckKarpenter()
	}
	t.checkDropped()
	t.checkRules(t.touches)
	return t.outcome()
}

// Validate checks all that is stored, as a whole, and returns the warnings that belong to it, or Problems.
func (r Rack) Validate(readFile ReadFile) ([]string, error) {
	t := &transition{before: r, after: r, whole: true, in: context{karpenter: r.Release.Karpenter(), readFile: readFile}}
	t.after.stored = r.Stored()
	for _, name := range r.Names() {
		p := Find(name)
		if p == nil {
			t.warn(name, "%s", UnknownName(name, r.Provider))
			continue
		}
		t.checkProvider(p)
		t.checkRelease(p)
		t.checkStored(p)
	}
	t.checkRules(func([]string) bool { return true })
	outcome, err := t.outcome()
	return outcome.Warnings, err
}

// CheckRendered checks the form of the stored values that decide the NodePools of a rack, whatever its release.
func (r Rack) CheckRendered() error {
	t := &transition{before: r, after: r, whole: true, in: context{karpenter: r.Release.Karpenter()}}
	t.after.stored = r.Stored()
	for _, name := range r.Names() {
		if p := Find(name); p != nil && (isKarpenter(name) || slices.Contains(renderedBesides, name)) {
			t.checkStored(p)
		}
	}
	_, err := t.outcome()
	return err
}

// renderedBesides are the parameters, besides Karpenter's own, that decide the NodePools.
var renderedBesides = []string{"build_node_enabled", "build_node_type", "node_type"}

// transition is a change while it is being checked. after takes the values as they are checked; where a value is wrong
// it keeps the text that was given, so that rules across parameters still see that there is one.
type transition struct {
	before, after Rack
	change        Change
	whole         bool // all that is stored is checked, and nothing changes
	in            context
	problems      []message
	warnings      []message
	// wrong are the names whose own value is wrong.
	wrong []string
}

// message is a problem, or a warning, that belongs to a parameter.
type message struct {
	name string
	Problem
}

func (t *transition) refuse(name, format string, args ...any) {
	t.problems = append(t.problems, message{name, Problem{Text: fmt.Sprintf(format, args...)}})
}

func (t *transition) warn(name, format string, args ...any) {
	t.warnings = append(t.warnings, message{name, Problem{Text: fmt.Sprintf(format, args...)}})
}

// refuseUnlessForced refuses what Change.Force lets through with a warning.
func (t *transition) refuseUnlessForced(name, format string, args ...any) {
	if t.change.Force {
		t.warn(name, format, args...)
		return
	}
	t.refuse(name, format, args...)
	t.problems[len(t.problems)-1].Forcible = true
}

// setRelease takes a new release first: what else is set has to fit it.
func (t *transition) setRelease() {
	text, given := t.change.Set["release"]
	if !given {
		return
	}
	release, err := ParseRelease(text)
	if err != nil {
		t.refuse("release", "release: %s", err)
		return
	}
	t.after.Release = release
	t.in.karpenter = release.Karpenter()
}

func (t *transition) set(name, value string) {
	p := Find(name)
	if p == nil {
		t.setUnknown(name, value)
		return
	}
	if !t.allowed(p) {
		return
	}
	t.checkRelease(p)
	t.setValue(p, value)
}

func (t *transition) setUnknown(name, value string) {
	if !IsName(name) {
		t.refuse(name, "%s is not the name of a parameter: those are letters, digits and _, a letter first", shape.Quote(name))
		return
	}
	stray := &Parameter{Name: name, Value: text{}}
	if problem := checkText(stray, value); problem != "" {
		t.refuse(name, "%s", problem)
		return
	}
	t.refuseUnlessForced(name, "%s", UnknownName(name, t.after.Provider))
	t.after.stored[name] = value
}

// IsName reports whether a name is made as those of parameters are. Terraform takes no others, and neither do shells.
func IsName(name string) bool {
	return len(name) <= 128 && name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// allowed reports whether the change may touch the parameter at all.
func (t *transition) allowed(p *Parameter) bool {
	if !t.checkProvider(p) {
		return false
	}
	switch {
	case p.InstallOnly && !t.change.Install:
		t.refuse(p.Name, "%s is fixed when a rack is installed and cannot be changed", p.Name)
		return false
	case p.Managed && !(t.change.Install && slices.Contains(identity, p.Name)):
		t.refuseUnlessForced(p.Name, "%s is managed: rack updates set it", p.Name)
	}
	return true
}

// checkProvider refuses a parameter that racks of this provider do not have.
func (t *transition) checkProvider(p *Parameter) bool {
	if p.Providers.Has(t.after.Provider) {
		return true
	}
	says := fmt.Sprintf("%s is a parameter of %s racks, and this one runs on %s", p.Name, shape.Enumerate(p.Providers.Names(), "and"), t.after.Provider)
	if isKarpenter(p.Name) {
		t.refuse(p.Name, "%s", says)
		return false
	}
	t.refuseUnlessForced(p.Name, "%s", says)
	return t.change.Force
}

func (t *transition) checkRelease(p *Parameter) {
	if p.Since != "" && t.after.Release.Before(p.Since) {
		t.refuseUnlessForced(p.Name, "%s needs rack release %s, and this rack is at %s", p.Name, p.Since, t.after.Release)
	}
}

func (t *transition) setValue(p *Parameter, value string) {
	stored, problems := p.check(value, t.in)
	if problems != nil {
		for _, problem := range problems {
			t.refuse(p.Name, "%s", problem)
		}
		t.wrong = append(t.wrong, p.Name)
		stored = value
	}
	t.after.stored[p.Name] = stored
}

// checkStored checks a value that is stored. One that is empty as the default is stands for it, whoever stored it.
func (t *transition) checkStored(p *Parameter) {
	if value := t.before.stored[p.Name]; value != "" || p.Default != "" {
		t.setValue(p, value)
	}
}

// check returns the text to store for a value, or all that is wrong with it.
func (p *Parameter) check(value string, in context) (string, []string) {
	if value == "" && p.Clearable {
		if document, isJSON := p.Value.(document); isJSON {
			return encodeDocument([]byte(document.cleared)), nil
		}
		return "", nil
	}
	if fixed, isPattern := p.Value.(pattern); value == "" && !(isPattern && fixed.fixed) {
		return "", []string{emptyValue(p)}
	}
	if p.Type != JSON {
		if problem := checkText(p, value); problem != "" {
			return "", []string{problem}
		}
	}
	return p.Value.check(p, value, in)
}

func emptyValue(p *Parameter) string {
	if p.Default == "" {
		return fmt.Sprintf("%s cannot be empty; it must be %s, or be unset", p.Name, p.Value.Accepts())
	}
	return fmt.Sprintf("%s cannot be empty; it must be %s, or be unset for its default %s", p.Name, p.Value.Accepts(), p.Default)
}

func (t *transition) unset(name string) {
	p := Find(name)
	_, set := t.change.Set[name]
	switch {
	case set:
		t.refuse(name, "%s is both set and unset; do one of them", name)
	case p == nil && !t.before.IsStored(name):
		t.refuse(name, "%s", UnknownName(name, t.after.Provider))
	case p != nil && slices.Contains(identity, name):
		t.refuse(name, "%s says which rack this is and cannot be unset", name)
	// What racks of the provider do not have may go, if it got there.
	case p == nil || t.before.IsStored(name) && !p.Providers.Has(t.after.Provider) || t.allowed(p):
		delete(t.after.stored, name)
	}
}

// touches reports whether the change touches one of the names.
func (t *transition) touches(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, set := t.change.Set[name]
		return set || slices.Contains(t.change.Unset, name)
	})
}

// recheckKarpenter checks the stored Karpenter values again: they may have been stored while nothing looked at them.
func (t *transition) recheckKarpenter() {
	for _, name := range t.before.Names() {
		if p := Find(name); p != nil && isKarpenter(name) && !t.touches([]string{name}) {
			t.checkStored(p)
		}
	}
}

// isKarpenter reports whether a parameter is one of Karpenter's, which only aws racks have.
func isKarpenter(name string) bool {
	return strings.HasPrefix(name, "karpenter_") || name == "additional_karpenter_nodepools_config"
}

func (t *transition) outcome() (Outcome, error) {
	if len(t.problems) > 0 {
		return Outcome{}, inOrder(t.problems)
	}
	outcome := Outcome{Rack: t.after, ArmsWindow: t.change.Set[blockScheduleName] != "" || t.change.Set[blockDurationName] != ""}
	for _, warning := range inOrder(t.warnings) {
		outcome.Warnings = append(outcome.Warnings, warning.Text)
	}
	return outcome, nil
}

// inOrder returns the problems by the names of their parameters, each once.
func inOrder(messages []message) Problems {
	slices.SortStableFunc(messages, func(a, b message) int { return cmp.Compare(a.name, b.name) })
	var problems Problems
	seen := map[Problem]bool{}
	for _, m := range messages {
		if !seen[m.Problem] {
			problems = append(problems, m.Problem)
		}
		seen[m.Problem] = true
	}
	return problems
}
