package render

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"rackparams/pkg/nodepool"

	"gopkg.in/yaml.v3"
)

// YAML writes the pools as a stream of YAML documents, the same to the byte for the same pools.
//
// The text is what yaml.v3 makes of a NodePool, and a test holds the two against each other. It is written here because
// a rack may have thousands of pools, and reflection and the event queue of the general encoder take fifteen times as
// long; how a scalar is quoted is still asked of yaml.v3 wherever it is not plain to see.
func YAML(w io.Writer, pools []nodepool.NodePool) error {
	y := yamlWriter{scalars: map[string]string{}}
	for i := range pools {
		if i > 0 {
			y.text = append(y.text, "---\n"...)
		}
		y.pool(&pools[i])
		if len(y.text) > 1<<16 {
			if _, err := w.Write(y.text); err != nil {
				return err
			}
			y.text = y.text[:0]
		}
	}
	_, err := w.Write(y.text)
	return err
}

// yamlWriter gathers text. Its methods take the indentation of what they write, as blanks.
type yamlWriter struct {
	text []byte
	// scalars are the scalars that yaml.v3 was asked for.
	scalars map[string]string
}

func (y *yamlWriter) pool(p *nodepool.NodePool) {
	y.field("", "apiVersion", p.APIVersion)
	y.field("", "kind", p.Kind)
	y.open("", "metadata")
	y.field("  ", "name", p.Metadata.Name)
	template, disruption := &p.Spec.Template, &p.Spec.Disruption
	hasTemplate := template.Spec.NodeClassRef != nodepool.NodeClassRef{}
	hasDisruption := disruption.Budgets != nil || disruption.ConsolidationPolicy != "" || disruption.ConsolidateAfter != ""
	if !hasTemplate && !hasDisruption {
		return
	}
	y.open("", "spec")
	if hasTemplate {
		y.template(template)
	}
	if hasDisruption {
		y.disruption(disruption)
	}
	y.stringMap("  ", "limits", p.Spec.Limits)
	if p.Spec.Weight != 0 {
		y.raw("  ", "weight", strconv.Itoa(p.Spec.Weight))
	}
}

func (y *yamlWriter) template(t *nodepool.Template) {
	y.open("  ", "template")
	if len(t.Metadata.Labels) > 0 {
		y.open("    ", "metadata")
		y.stringMap("      ", "labels", t.Metadata.Labels)
	}
	y.open("    ", "spec")
	if len(t.Spec.Taints) > 0 {
		y.open("      ", "taints")
		for _, taint := range t.Spec.Taints {
			y.field("        - ", "key", taint.Key)
			y.optional("          ", "value", taint.Value)
			y.field("          ", "effect", taint.Effect)
		}
	}
	y.open("      ", "requirements")
	for _, requirement := range t.Spec.Requirements {
		y.field("        - ", "key", requirement.Key)
		y.field("          ", "operator", requirement.Operator)
		y.list("          ", "values", requirement.Values)
		if requirement.MinValues != 0 {
			y.raw("          ", "minValues", strconv.Itoa(requirement.MinValues))
		}
	}
	y.open("      ", "nodeClassRef")
	y.field("        ", "group", t.Spec.NodeClassRef.Group)
	y.field("        ", "kind", t.Spec.NodeClassRef.Kind)
	y.field("        ", "name", t.Spec.NodeClassRef.Name)
	y.optional("      ", "expireAfter", t.Spec.ExpireAfter)
	y.optional("      ", "terminationGracePeriod", t.Spec.TerminationGracePeriod)
}

func (y *yamlWriter) disruption(d *nodepool.Disruption) {
	y.open("  ", "disruption")
	y.optional("    ", "consolidationPolicy", d.ConsolidationPolicy)
	y.optional("    ", "consolidateAfter", d.ConsolidateAfter)
	if d.Budgets == nil {
		return
	}
	if len(d.Budgets) == 0 {
		y.raw("    ", "budgets", "[]")
		return
	}
	y.open("    ", "budgets")
	for _, budget := range d.Budgets {
		y.field("      - ", "nodes", budget.Nodes)
		y.list("        ", "reasons", budget.Reasons.Strings())
		y.optional("        ", "schedule", budget.Schedule)
		y.optional("        ", "duration", budget.Duration)
	}
}

// open writes a key whose value follows on the next lines.
func (y *yamlWriter) open(indent, key string) {
	y.text = append(append(append(y.text, indent...), key...), ":\n"...)
}

// raw writes a key and a value that is YAML already.
func (y *yamlWriter) raw(indent, key, value string) {
	y.text = append(append(append(append(append(y.text, indent...), key...), ": "...), value...), '\n')
}

func (y *yamlWriter) field(indent, key, value string) { y.raw(indent, key, y.scalar(value)) }

func (y *yamlWriter) optional(indent, key, value string) {
	if value != "" {
		y.field(indent, key, value)
	}
}

func (y *yamlWriter) list(indent, key string, values []string) {
	if len(values) == 0 {
		return
	}
	y.open(indent, key)
	for _, value := range values {
		y.text = append(append(append(append(y.text, indent...), "  - "...), y.scalar(value)...), '\n')
	}
}

func (y *yamlWriter) stringMap(indent, key string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	y.open(indent, key)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		y.field(indent+"  ", y.scalar(name), values[name])
	}
}

// scalar returns a string as YAML writes it.
func (y *yamlWriter) scalar(text string) string {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	switch suffix := text[digits:]; {
	case digits > 0 && suffix == "":
		return `"` + text + `"`
	case digits > 0 && (suffix == "%" || suffix == "h" || suffix == "m" || suffix == "s" || suffix == "Gi"):
		return text
	}
	written, found := y.scalars[text]
	switch {
	case found:
	case strings.ContainsAny(text, "\n\r"):
		// yaml.v3 would write a block, which has to be indented; JSON's form is YAML too.
		data, _ := json.Marshal(text)
		written = string(data)
		y.scalars[text] = written
	default:
		data, err := yaml.Marshal(text)
		if err != nil {
			panic("a string that YAML cannot write: " + err.Error())
		}
		written = strings.TrimSuffix(string(data), "\n")
		y.scalars[text] = written
	}
	return written
}
