package conformance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The generators of the small parts that racks and NodePools are made of. They lean towards what is legal but awkward:
// the longest, the shortest, and text that YAML takes for something else where it is not quoted.

// oneOf returns one of the items.
func oneOf[T any](r *rand.Rand, items ...T) T { return items[r.IntN(len(items))] }

// chance reports true that often.
func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// few returns a small number, and once in a while the most there may be.
func few(r *rand.Rand, most int) int {
	if chance(r, 0.03) {
		return most
	}
	return r.IntN(5)
}

// some returns from least to most of the items, in any order, none twice.
func some[T any](r *rand.Rand, least, most int, items ...T) []T {
	items = slices.Clone(items)
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items[:least+r.IntN(min(most, len(items))-least+1)]
}

const (
	lower   = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits  = "0123456789"
	letters = lower + upper
)

// characters returns n characters of an alphabet.
func characters(r *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

// yamlWords are label values that a YAML reader takes for other than text where they are not quoted.
var yamlWords = []string{
	"y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "true", "True", "TRUE",
	"false", "False", "FALSE", "null", "Null", "NULL", "0", "1", "00", "007", "08", "0777", "0o17", "0x1F", "0b11", "1_000",
	"0_1", "1e3", "1E3", "1.5", "1.", "1.e3", "1e-3", "12345678901234567890", "2026-03-01", "2026-03-01T10", "inf", "Inf",
	"NaN", "nan", "NAN", "0.0.0", "1__0", "0x_1", "0b", "0x", "e1", "1e", "9223372036854775808",
}

// kubernetesName returns 1 to most characters as a Kubernetes name may have them: letters and digits at the ends, and '-', '_' and
// '.' between.
func kubernetesName(r *rand.Rand, most int) string {
	n := oneOf(r, 1, 2, 3+r.IntN(8), most)
	ends := letters + digits
	if n = min(n, most); n < 3 {
		return characters(r, ends, n)
	}
	return characters(r, ends, 1) + characters(r, ends+"-_.", n-2) + characters(r, ends, 1)
}

// domain returns 1 to most characters of a DNS name.
func domain(r *rand.Rand, most int) string {
	var labels []string
	for length := 0; ; {
		label := characters(r, lower, 1) + characters(r, lower+digits, r.IntN(20)) + oneOf(r, "", "-"+characters(r, lower+digits, 1))
		if length += len(label) + 1; length > most {
			break
		}
		if labels = append(labels, label); chance(r, 0.4) {
			break
		}
	}
	if labels == nil {
		return characters(r, lower, 1)
	}
	return strings.Join(labels, ".")
}

// wellKnownLabels have a meaning to Kubernetes or Karpenter, and may be set.
var wellKnownLabels = []string{
	"karpenter.sh/capacity-type", "kubernetes.io/arch", "kubernetes.io/os", "topology.kubernetes.io/zone",
	"topology.kubernetes.io/region", "topology.k8s.aws/zone-id", "node.kubernetes.io/instance-type",
	"beta.kubernetes.io/arch", "failure-domain.beta.kubernetes.io/zone", "node.kubernetes.io/windows-build",
	awsDomain + "/instance-family", awsDomain + "/instance-size", awsDomain + "/instance-cpu", awsDomain + "/instance-category",
	awsDomain + "/instance-generation", awsDomain + "/instance-gpu-name", awsDomain + "/capacity-reservation-id",
	awsDomain + "/instance-cpu-sustained-clock-speed-mhz", awsDomain + "/placement-group-id",
}

// labelKey returns the key of a node label, a requirement or a taint.
func labelKey(r *rand.Rand) string {
	switch r.IntN(6) {
	case 0:
		return oneOf(r, wellKnownLabels...)
	case 1:
		return oneOf(r, yamlWords[:20]...)
	case 2:
		return strings.Repeat(characters(r, lower, 1), 252) + "/" + characters(r, letters, 63)
	case 3:
		return domain(r, 60) + "/" + kubernetesName(r, 63)
	}
	return kubernetesName(r, 63)
}

// labelValue returns the value of a label that is not empty.
func labelValue(r *rand.Rand) string {
	if chance(r, 0.5) {
		return strings.TrimRight(oneOf(r, yamlWords...), "._-")
	}
	return kubernetesName(r, 63)
}

// labels returns n labels with none of the keys that a rack reserves.
func labels(r *rand.Rand, n int) map[string]string {
	all := map[string]string{}
	for len(all) < n {
		all[labelKey(r)] = labelValue(r)
	}
	return all
}

// pairs writes labels as "k=v,k=v", in any order.
func pairs(r *rand.Rand, labels map[string]string) string {
	var all []string
	for key, value := range labels {
		all = append(all, key+"="+value)
	}
	slices.Sort(all)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return strings.Join(all, ",")
}

// taint is the key, the value and the effect of a taint; the value may be empty.
type taint struct{ key, value, effect string }

// taints returns up to most taints of which no two have key and effect in common.
func taints(r *rand.Rand, most int) []taint {
	var all []taint
	for range 1 + r.IntN(most) {
		made := taint{labelKey(r), oneOf(r, "", labelValue(r), domain(r, 20)+"/"+kubernetesName(r, 63)), oneOf(r, "NoSchedule", "PreferNoSchedule", "NoExecute")}
		if chance(r, 0.2) && all != nil {
			made.key = all[0].key
		}
		if !slices.ContainsFunc(all, func(t taint) bool { return t.key == made.key && t.effect == made.effect }) {
			all = append(all, made)
		}
	}
	return all
}

// taintText writes taints as a parameter takes them.
func taintText(r *rand.Rand, taints []taint) string {
	var all []string
	for _, t := range taints {
		value := "=" + t.value
		if t.value == "" && chance(r, 0.5) {
			value = ""
		}
		all = append(all, t.key+value+":"+t.effect)
	}
	return strings.Join(all, ",")
}

// duration returns a duration of parts such as "1h30m", or Never where that may be.
func duration(r *rand.Rand, orNever bool) string {
	if orNever && chance(r, 0.2) {
		return "Never"
	}
	var parts strings.Builder
	for range 1 + r.IntN(3) {
		fmt.Fprintf(&parts, "%d%s", oneOf(r, 0, 1, 30, 720, 8760, 100000), oneOf(r, "s", "m", "h"))
	}
	return oneOf(r, parts.String(), parts.String(), "0s", "2562047h", "2562047h47m16s", "00072h")
}

// budgetNodes returns the nodes of a budget: a count or a percentage.
func budgetNodes(r *rand.Rand) string {
	return oneOf(r, "0", "1", "5", "007", "2147483647", "0%", "00%", "1%", "10%", "99%", "100%", fmt.Sprint(r.IntN(1000)), fmt.Sprintf("%d%%", r.IntN(101)))
}

// quantity returns an amount of a resource, as a string or as a whole number.
func quantity(r *rand.Rand) any {
	if chance(r, 0.3) {
		return oneOf[any](r, 0, 1, 100, -1, r.Int32(), uint64(18446744073709551615))
	}
	return oneOf(r, "0", "1", "100", "400Gi", "1.5", ".5", "5.", "+1", "-1", "100m", "1e3", "1E3", "12e-2", "1E", "1Ei", "99u", "7n", "3k", "2M", "1G", "1T", "1P",
		"10000000000000000000000000000", "9e99", fmt.Sprint(r.Int64()))
}
