package params

import (
	"bytes"
	"encoding/json"
	"fmt"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

// karpenterConfig is the value of karpenter_config.
var karpenterConfig = document{
	accepts: "an object with the keys nodePool and ec2NodeClass", limit: maxConfigBytes, cleared: "{}", schema: karpenterConfigSchema,
}

// KarpenterConfig is what karpenter_config sets of the workload NodePool. Nil and empty fields are not set.
type KarpenterConfig struct {
	NodePool struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				ExpireAfter            string                 `json:"expireAfter"`
				Requirements           []nodepool.Requirement `json:"requirements"`
				Taints                 []nodepool.Taint       `json:"taints"`
				TerminationGracePeriod string                 `json:"terminationGracePeriod"`
			} `json:"spec"`
		} `json:"template"`
		Disruption nodepool.Disruption `json:"disruption"`
		Limits     map[string]quantity `json:"limits"`
		Weight     int                 `json:"weight"`
	} `json:"nodePool"`
}

// quantity is an amount of a resource, which may be written as a number or as a string.
type quantity string

func (q *quantity) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(q))
	}
	*q = quantity(data)
	return nil
}

const setByRack = "it cannot be overridden, the rack sets it itself; leave it out"

func karpenterConfigSchema(v nodepool.Version) *shape.Schema {
	disruption := nodepool.DisruptionSchema(v)
	for i := range disruption.Fields {
		// Each key given replaces the rack's own, so none has to be.
		disruption.Fields[i].Required = false
	}
	requirements := nodepool.RequirementsSchema()
	requirements.MinItems = 1
	labels := nodepool.LabelsSchema()
	labels.Key = func(key string) string {
		if key == PoolLabel {
			return setByRack
		}
		return nodepool.CheckLabelKey(key)
	}
	limits := nodepool.LimitsSchema()
	limits.Key = nodepool.CheckResourceName
	return object(
		field("nodePool", object(
			field("template", object(
				field("metadata", object(field("labels", labels))),
				field("spec", object(
					field("expireAfter", nodepool.ExpireAfterSchema()),
					field("requirements", requirements),
					field("taints", nodepool.TaintsSchema()),
					field("terminationGracePeriod", nodepool.TerminationGracePeriodSchema()),
					forbidden("nodeClassRef"),
				)),
			)),
			field("disruption", disruption),
			field("limits", limits),
			field("weight", nodepool.WeightSchema()),
		)),
		field("ec2NodeClass", nodeClassSchema()),
	)
}

// nodeOverlays is the value of karpenter_node_overlays_config: the specs of Karpenter NodeOverlays, each with a name.
var nodeOverlays = document{
	accepts: "a list of node overlays", limit: maxConfigBytes, cleared: "[]", schema: func(nodepool.Version) *shape.Schema {
		return &shape.Schema{Kind: shape.List, Items: object(
			field("name", &shape.Schema{Kind: shape.String}),
			required("requirements", nodepool.RequirementsSchema()),
			field("price", &shape.Schema{Kind: shape.String, Check: matches(`^\d+(\.\d+)?$`, `is not a price; write one such as "0.5"`)}),
			field("priceAdjustment", &shape.Schema{Kind: shape.String, Check: matches(
				`^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$`,
				`is not a price adjustment; write one such as "-0.1", "+10%" or "-10%"`)}),
			field("capacity", nodepool.LimitsSchema()),
			field("weight", &shape.Schema{Kind: shape.Int, Check: wholeCheck(between(1, 10000))}),
		), Whole: uniqueNames}
	},
}

// nodeGroups is the value of additional_node_groups_config and additional_build_groups_config.
var nodeGroups = document{
	accepts: "a list of node groups", limit: maxListBytes, cleared: "[]", schema: func(nodepool.Version) *shape.Schema {
		text, number := &shape.Schema{Kind: shape.String}, &shape.Schema{Kind: shape.Int, Check: wholeCheck(atLeast(0))}
		return &shape.Schema{Kind: shape.List, Items: object(
			field("id", number), field("type", text), field("disk", number), field("capacity_type", text),
			field("min_size", number), field("max_size", number), field("desired_size", number),
			field("label", text), field("tags", text), field("ami_id", text),
			field("dedicated", &shape.Schema{Kind: shape.Bool}),
		), Whole: uniqueIDs}
	},
}

// nodeGroup is an entry of a list of node groups, as far as the rules look at it.
type nodeGroup struct {
	ID        *int   `json:"id"`
	Label     string `json:"label"`
	Type      string `json:"type"`
	Dedicated bool   `json:"dedicated"`
}

// String names the group: by its id, else by its label, else by its instance type.
func (g nodeGroup) String() string {
	switch {
	case g.ID != nil:
		return fmt.Sprintf("id %d", *g.ID)
	case g.Label != "":
		return g.Label
	case g.Type != "":
		return g.Type
	}
	return "a group without id, label or type"
}

func object(fields ...shape.Field) *shape.Schema {
	return &shape.Schema{Kind: shape.Object, Fields: fields}
}

func field(name string, schema *shape.Schema) shape.Field {
	return shape.Field{Name: name, Schema: schema}
}

func required(name string, schema *shape.Schema) shape.Field {
	return shape.Field{Name: name, Schema: schema, Required: true}
}

func forbidden(name string) shape.Field { return shape.Field{Name: name, Forbidden: setByRack} }

// uniqueNames reports entries of a list that have the name of an earlier one, and uniqueIDs those that have its id.
var (
	uniqueNames = unique("name")
	uniqueIDs   = unique("id")
)

func unique(key string) func(list *yaml.Node, report shape.Report) {
	return func(list *yaml.Node, report shape.Report) {
		seen := map[string]bool{}
		for i, entry := range list.Content {
			value := shape.Get(entry, key)
			if value == nil || value.Kind != yaml.ScalarNode {
				continue
			}
			if seen[value.Value] {
				report(value, fmt.Sprintf("[%d].%s", i, key), "", fmt.Sprintf("the %s %s is taken by an earlier entry; give each its own", key, shape.Quote(value.Value)))
			}
			seen[value.Value] = true
		}
	}
}

// WindowChange returns what to set, in order, for the rack to have a disruption window. A budgets list in its
// karpenter_config, which would replace the window, goes.
func (r Rack) WindowChange(schedule, duration string) ([][2]string, error) {
	set := [][2]string{{blockScheduleName, schedule}, {blockDurationName, duration}}
	config, err := r.configObject()
	if err != nil {
		return nil, err
	}
	disruption := within(within(config, "nodePool"), "disruption")
	if _, found := disruption["budgets"]; !found {
		return set, nil
	}
	delete(disruption, "budgets")
	if len(disruption) == 0 {
		delete(within(config, "nodePool"), "disruption")
	}
	if len(within(config, "nodePool")) == 0 {
		delete(config, "nodePool")
	}
	text, err := json.Marshal(config)
	return append(set, [2]string{"karpenter_config", string(text)}), err
}

// BudgetsChange returns what to set, in order, for the workload pool of the rack to have a list of budgets: its
// karpenter_config with that list, and no window beside it.
func (r Rack) BudgetsChange(budgets nodepool.Budgets) ([][2]string, error) {
	config, err := r.configObject()
	if err != nil {
		return nil, err
	}
	within(within(config, "nodePool"), "disruption")["budgets"] = budgets
	text, err := json.Marshal(config)
	set := [][2]string{{"karpenter_config", string(text)}}
	if r.Value(blockScheduleName) != "" || r.Value(blockDurationName) != "" {
		set = append(set, [2]string{blockScheduleName, ""}, [2]string{blockDurationName, ""})
	}
	return set, err
}

// configObject is the karpenter_config of the rack as JSON decodes it, numbers as they are written.
func (r Rack) configObject() (map[string]any, error) {
	config := map[string]any{}
	stored := r.stored["karpenter_config"]
	if stored == "" {
		return config, nil
	}
	data, err := decodeDocument(stored)
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		err = decoder.Decode(&config)
	}
	if err != nil {
		return nil, fmt.Errorf("karpenter_config: %w", err)
	}
	return config, nil
}

// within returns the object at a key of another, which is made where there is none.
func within(object map[string]any, key string) map[string]any {
	inner, isObject := object[key].(map[string]any)
	if !isObject {
		inner = map[string]any{}
		object[key] = inner
	}
	return inner
}
