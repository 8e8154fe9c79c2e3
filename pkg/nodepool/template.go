package nodepool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rackparams/pkg/shape"

	"gopkg.in/yaml.v3"
)

var (
	labelNamePattern   = lazyPattern(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`)
	labelDomainPattern = lazyPattern(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	// The CRD's pattern for a quantity lets an exponent have a fraction, or any number of digits, which Karpenter could not
	// read back.
	quantityPattern = lazyPattern(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,4})?$`)
)

// MaxLabels is how many labels the CRD takes on the nodes of a pool.
const MaxLabels = 100

// maxRequirements is how many requirements the CRD takes.
const maxRequirements = 100

// TaintEffects are the effects that a taint may have.
var TaintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// knownValues are the values of the labels of which Karpenter, or the AWS provider, knows all. A pool whose requirement
// has none of them goes out of service.
var knownValues = map[string][]string{
	"karpenter.sh/capacity-type":         {"on-demand", "spot", "reserved"},
	"karpenter.k8s.aws/instance-tenancy": {"default", "dedicated"},
}

// maxRequirementKey is how long the key of a requirement may be; a label may be one longer.
const maxRequirementKey = 316

// LabelsSchema says what spec.template.metadata.labels must look like.
func LabelsSchema() *shape.Schema {
	return &shape.Schema{
		Kind: shape.Map, MaxItems: MaxLabels, Key: CheckLabelKey,
		Items: &shape.Schema{Kind: shape.String, Check: CheckLabelValue},
	}
}

// RequirementsSchema says what spec.template.spec.requirements must look like.
func RequirementsSchema() *shape.Schema {
	requirement := &shape.Schema{Kind: shape.Object, Fields: []shape.Field{
		{Name: "key", Required: true, Schema: &shape.Schema{Kind: shape.String, Check: func(key string) string {
			if len(key) > maxRequirementKey {
				return fmt.Sprintf("%s has %d bytes; %d at most are taken", shape.Quote(key), len(key), maxRequirementKey)
			}
			return CheckLabelKey(key)
		}}},
		{Name: "operator", Required: true, Schema: &shape.Schema{
			Kind: shape.String, Check: shape.OneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"),
		}},
		{Name: "values", Schema: &shape.Schema{Kind: shape.List, Items: &shape.Schema{Kind: shape.String, Check: CheckLabelValue}}},
		{Name: "minValues", Schema: &shape.Schema{Kind: shape.Int, Check: intBetween(1, 50)}},
	}, Whole: checkRequirement}
	return &shape.Schema{Kind: shape.List, MaxItems: maxRequirements, Items: requirement}
}

// checkRequirement holds the rules that take more than one field of a requirement.
func checkRequirement(node *yaml.Node, report shape.Report) {
	operator := shape.Text(node, "operator")
	var values []string
	if list := shape.Get(node, "values"); list != nil {
		for _, value := range list.Content {
			values = append(values, shape.Resolve(value).Value)
		}
	}
	switch operator {
	case "In":
		if len(values) == 0 {
			report(node, ".values", "", `the operator In needs at least one value`)
		}
		if known := knownValues[shape.Text(node, "key")]; known != nil {
			for _, value := range values {
				if message := shape.OneOf(known...)(value); message != "" {
					report(node, ".values", "", message)
				}
			}
		}
		if least := shape.Get(node, "minValues"); least != nil {
			if n, _ := strconv.Atoi(least.Value); n > len(values) {
				report(least, ".minValues", "", fmt.Sprintf("it asks for %d values and the list has %d", n, len(values)))
			}
		}
	case "NotIn":
		if len(values) == 0 {
			report(node, ".values", "", `the operator NotIn needs at least one value`)
		}
	case "Gt", "Lt", "Gte", "Lte":
		if len(values) != 1 || !isWholeNumber(values[0]) {
			report(node, ".values", "", fmt.Sprintf("the operator %s takes exactly one value, a whole number from 0 on", operator))
		}
	}
}

func isWholeNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 63)
	return err == nil
}

// TaintsSchema says what spec.template.spec.taints must look like.
func TaintsSchema() *shape.Schema {
	taint := &shape.Schema{Kind: shape.Object, Fields: []shape.Field{
		{Name: "key", Required: true, Schema: &shape.Schema{Kind: shape.String, Check: checkQualifiedName}},
		{Name: "value", Schema: &shape.Schema{Kind: shape.String, Check: func(text string) string {
			if text == "" {
				return "an empty value is not taken; leave value out"
			}
			return checkQualifiedName(text)
		}}},
		{Name: "effect", Required: true, Schema: &shape.Schema{Kind: shape.String, Check: shape.OneOf(TaintEffects...)}},
	}}
	return &shape.Schema{Kind: shape.List, Items: taint, Whole: func(node *yaml.Node, report shape.Report) {
		var taints []Taint
		for _, entry := range node.Content {
			taints = append(taints, Taint{Key: shape.Text(entry, "key"), Effect: shape.Text(entry, "effect")})
		}
		if message := CheckTaintsDistinct(taints); message != "" {
			report(node, "", "", message)
		}
	}}
}

// CheckTaint says what is wrong with a taint, or "".
func CheckTaint(t Taint) string {
	if message := checkQualifiedName(t.Key); message != "" {
		return message
	}
	if t.Value != "" {
		if message := checkQualifiedName(t.Value); message != "" {
			return message
		}
	}
	return shape.OneOf(TaintEffects...)(t.Effect)
}

// CheckTaintsDistinct names the first taint whose key and effect stand twice, or returns "". With such a pair Karpenter
// takes the whole NodePool out of service.
func CheckTaintsDistinct(taints []Taint) string {
	seen := map[Taint]bool{}
	for _, t := range taints {
		t.Value = ""
		if seen[t] {
			return fmt.Sprintf("the taint %s stands twice with the effect %s; write it once", shape.Quote(t.Key), t.Effect)
		}
		seen[t] = true
	}
	return ""
}

// LimitsSchema says what spec.limits must look like.
func LimitsSchema() *shape.Schema {
	return &shape.Schema{Kind: shape.Map, Items: &shape.Schema{Kind: shape.IntOrString, Check: func(text string) string {
		if !quantityPattern().MatchString(text) {
			return shape.Quote(text) + ` is not a quantity; write one such as "100" or "400Gi"`
		}
		return ""
	}}}
}

// WeightSchema says what spec.weight must look like.
func WeightSchema() *shape.Schema { return &shape.Schema{Kind: shape.Int, Check: intBetween(1, 100)} }

// ExpireAfterSchema says what spec.template.spec.expireAfter must look like.
func ExpireAfterSchema() *shape.Schema {
	return &shape.Schema{Kind: shape.String, Check: CheckDurationOrNever}
}

// TerminationGracePeriodSchema says what spec.template.spec.terminationGracePeriod must look like.
func TerminationGracePeriodSchema() *shape.Schema {
	return &shape.Schema{Kind: shape.String, Check: func(text string) string {
		return checkDuration(text, durationPattern(), `write whole hours, minutes or seconds, such as "48h" or "30m"`)
	}}
}

func intBetween(least, most int) func(string) string {
	return func(text string) string {
		if n, err := strconv.Atoi(text); err != nil || n < least || n > most {
			return fmt.Sprintf("%s is not a whole number from %d to %d", shape.Shorten(text), least, most)
		}
		return ""
	}
}

// CheckLabelKey says why Karpenter takes no node label or requirement of that key, or "".
func CheckLabelKey(key string) string {
	if message := checkQualifiedName(key); message != "" {
		return message
	}
	domain, _, _ := strings.Cut(key, "/")
	switch {
	case key == "karpenter.sh/nodepool", key == "kubernetes.io/hostname":
		return fmt.Sprintf("the label %q is restricted: Karpenter sets it itself", key)
	case strings.HasSuffix(domain, "karpenter.sh") && key != "karpenter.sh/capacity-type":
		return fmt.Sprintf("labels of the domain karpenter.sh are restricted, and %s is one; use a domain of your own", shape.Quote(key))
	case strings.HasSuffix(domain, "karpenter.k8s.aws") && !slices.Contains(awsLabels, strings.TrimPrefix(key, "karpenter.k8s.aws/")):
		return fmt.Sprintf("%s is not a label that the AWS provider knows, and its domain is restricted%s", shape.Quote(key), awsLabelHint(key))
	}
	return ""
}

func awsLabelHint(key string) string {
	near := shape.Nearest(strings.TrimPrefix(key, "karpenter.k8s.aws/"), awsLabels)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", "karpenter.k8s.aws/"+near)
}

// awsLabels are the labels of the domain karpenter.k8s.aws that both the AWS provider's CRD and its controller take. The
// CRD has ec2nodeclass besides, with which the controller takes the pool out of service.
var awsLabels = []string{
	"capacity-reservation-id", "capacity-reservation-interruptible", "capacity-reservation-type",
	"instance-accelerator-count", "instance-accelerator-manufacturer", "instance-accelerator-name",
	"instance-capability-flex", "instance-category", "instance-cpu", "instance-cpu-manufacturer",
	"instance-cpu-sustained-clock-speed-mhz", "instance-ebs-bandwidth", "instance-encryption-in-transit-supported",
	"instance-family", "instance-generation", "instance-gpu-count", "instance-gpu-manufacturer", "instance-gpu-memory",
	"instance-gpu-name", "instance-hypervisor", "instance-local-nvme", "instance-memory", "instance-network-bandwidth",
	"instance-size", "instance-tenancy", "placement-group-id", "placement-group-partition",
}

// CheckResourceName says why Kubernetes takes no resource of that name, such as cpu or nvidia.com/gpu, or "".
func CheckResourceName(name string) string { return checkQualifiedName(name) }

// CheckLabelValue says what is wrong with the value of a label, or "".
func CheckLabelValue(value string) string {
	if value == "" || (len(value) <= 63 && labelNamePattern().MatchString(value)) {
		return ""
	}
	return shape.Quote(value) + " is not a label value; write at most 63 letters, digits, '-', '_' or '.', a letter or digit first and last"
}

// checkQualifiedName says what is wrong with the key of a label or taint by Kubernetes' rules for a qualified name, or "".
func checkQualifiedName(text string) string {
	domain, name, hasDomain := strings.Cut(text, "/")
	if !hasDomain {
		name = text
	}
	if len(name) > 63 || !labelNamePattern().MatchString(name) {
		return shape.Quote(text) + " is not a name that Kubernetes takes; write at most 63 letters, digits, '-', '_' or '.', a letter or digit first and last, with a domain and '/' before it if wanted"
	}
	if hasDomain && (len(domain) > 253 || !labelDomainPattern().MatchString(domain)) {
		return fmt.Sprintf("%s does not begin with a domain that Kubernetes takes; write one such as example.com/%s", shape.Quote(text), name)
	}
	return ""
}
