package nodepool

import (
	"fmt"
	"strconv"
	"sync"

	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

// specSchema says what spec must look like, as far as it bears on disruption: what is in the template is left to the API server.
func specSchema(v Version) *shape.Schema { return specSchemas[v]() }

// specSchemas are the schemas of the versions, each made when it is first needed.
var specSchemas = func() map[Version]func() *shape.Schema {
	schemas := map[Version]func() *shape.Schema{}
	for v := V1_13; v <= Newest; v++ {
		schemas[v] = sync.OnceValue(func() *shape.Schema { return newSpecSchema(v) })
	}
	return schemas
}()

func newSpecSchema(v Version) *shape.Schema {
	return &shape.Schema{
		Kind: shape.Object, Rule: RuleDisruptionField, Whole: checkStatic,
		Fields: []shape.Field{
			{Name: "template", Schema: &shape.Schema{Kind: shape.Object, Open: true}, Required: true},
			{Name: "disruption", Schema: DisruptionSchema(v)},
			{Name: "limits", Schema: LimitsSchema()},
			{Name: "weight", Schema: WeightSchema()},
			{Name: "replicas", Schema: &shape.Schema{Kind: shape.Int, Check: func(text string) string {
				if _, err := strconv.ParseUint(text, 0, 63); err != nil {
					return shape.Shorten(text) + " is not a whole number from 0 on"
				}
				return ""
			}}},
		},
	}
}

// checkStatic holds the CRD's rules for a NodePool with a fixed number of nodes.
func checkStatic(spec *yaml.Node, report shape.Report) {
	if shape.Get(spec, "replicas") == nil {
		return
	}
	if weight := shape.Get(spec, "weight"); weight != nil {
		report(weight, ".weight", "", "weight goes with a pool that scales, and replicas fixes this one; leave one of them out")
	}
	if limits := shape.Get(spec, "limits"); limits != nil {
		for _, entry := range shape.Entries(limits) {
			if entry.Key.Value != "nodes" {
				report(entry.Key, shape.Join(".limits", entry.Key.Value), "", "a pool with replicas takes no limit but nodes")
			}
		}
	}
}

// manifestSpec is what is read of the spec of a manifest to evaluate it.
type manifestSpec struct {
	budgets     Budgets
	budgetNodes []*yaml.Node // where each budget stands; nil for an absent list
	budgetsNode *yaml.Node   // where the list stands, or what stands for it
	expireAfter string
	expiryNode  *yaml.Node // where it stands; nil where it is left to the API server
	// unreadable says what of the list the API server would refuse, so that there is nothing to evaluate.
	unreadable []shape.Problem
}

// Budgets returns the disruption budgets of the manifest, nil where it has no list, with the errors for which the API
// server would not take them.
func (m *Manifest) Budgets() (Budgets, []error) {
	spec := m.readSpec()
	var errors []error
	for _, problem := range spec.unreadable {
		errors = append(errors, fmt.Errorf("%s: %s", problem.Path, problem.Message))
	}
	return spec.budgets, errors
}

// ExpireAfter is how long the nodes of the pool live, as it is written, or what the API server fills in where it is absent.
func (m *Manifest) ExpireAfter() string { return m.readSpec().expireAfter }

func (m *Manifest) readSpec() manifestSpec {
	read := manifestSpec{budgetsNode: m.node, expireAfter: DefaultExpiry}
	spec := shape.Get(m.node, "spec")
	if spec == nil {
		return read
	}
	read.budgetsNode = spec
	if read.unreadable = notAnObject(spec, "spec"); read.unreadable != nil {
		return read
	}
	if template := shape.Given(spec, "template"); template != nil {
		if templateSpec := shape.Given(template, "spec"); templateSpec != nil {
			if expiry := shape.Given(templateSpec, "expireAfter"); expiry != nil {
				read.expireAfter, read.expiryNode = expiry.Value, expiry
			}
		}
	}
	disruption := shape.Given(spec, "disruption")
	if disruption == nil {
		return read
	}
	read.budgetsNode = disruption
	if read.unreadable = notAnObject(disruption, "spec.disruption"); read.unreadable != nil {
		return read
	}
	budgets := shape.Given(disruption, "budgets")
	if budgets == nil {
		return read
	}
	read.budgetsNode = budgets
	// Budgets of the wrong kind cannot be evaluated at all; values that Karpenter cannot read are the evaluator's.
	read.unreadable = shape.Check(kindsOfBudgets, budgets, "spec.disruption.budgets")
	if read.unreadable != nil {
		return read
	}
	read.budgets = Budgets{}
	for _, node := range budgets.Content {
		node = shape.Resolve(node)
		read.budgetNodes = append(read.budgetNodes, node)
		read.budgets = append(read.budgets, readBudget(node))
	}
	return read
}

// notAnObject says that a value is none, where it is not.
func notAnObject(node *yaml.Node, path string) []shape.Problem {
	if node.Kind == yaml.MappingNode || node.ShortTag() == "!!null" {
		return nil
	}
	return shape.Check(&shape.Schema{Kind: shape.Object}, node, path)
}

// kindsOfBudgets says of which kind the parts of a list of budgets are.
var kindsOfBudgets = func() *shape.Schema {
	// The API server drops a null, so that it is as if it were absent.
	text := &shape.Schema{Kind: shape.String, Null: true}
	return &shape.Schema{Kind: shape.List, MaxItems: MaxBudgets, Items: &shape.Schema{Kind: shape.Object, Open: true, Fields: []shape.Field{
		{Name: "nodes", Schema: text},
		{Name: "reasons", Schema: &shape.Schema{Kind: shape.List, Null: true, MaxItems: MaxBudgets, Items: &shape.Schema{Kind: shape.String}}},
		{Name: "schedule", Schema: text},
		{Name: "duration", Schema: text},
	}}}
}()

func readBudget(node *yaml.Node) Budget {
	// Where nodes is absent, the API server fills it in.
	budget := Budget{Nodes: DefaultNodes, Schedule: shape.Text(node, "schedule"), Duration: shape.Text(node, "duration")}
	if shape.Given(node, "nodes") != nil {
		budget.Nodes = shape.Text(node, "nodes")
	}
	if reasons := shape.Given(node, "reasons"); reasons != nil {
		budget.Reasons = Reasons{}
		for _, reason := range reasons.Content {
			budget.Reasons = append(budget.Reasons, Reason(shape.Resolve(reason).Value))
		}
	}
	return budget
}
