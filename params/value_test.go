package params

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValues(t *testing.T) {
	const refused = "\x00refused"
	for _, test := range []struct{ name, value, stored string }{
		{"keda_enable", "true", "true"},
		{"keda_enable", "1", "true"},
		{"keda_enable", "F", "false"},
		{"keda_enable", "yes", refused},
		{"karpenter_enabled", "true", "true"},
		{"karpenter_enabled", "1", refused},
		{"idle_timeout", "60", "60"},
		{"idle_timeout", "4000", "4000"},
		{"idle_timeout", "4001", refused},
		{"idle_timeout", "+60", refused},
		{"idle_timeout", "060", refused},
		{"idle_timeout", "6e1", refused},
		{"idle_timeout", "60.0", refused},
		{"idle_timeout", " 60", refused},
		{"karpenter_cpu_limit", "2147483647", "2147483647"},
		{"karpenter_cpu_limit", "2147483648", refused},
		{"karpenter_cpu_limit", "99999999999999999999", refused},
		{"access_log_retention_in_days", "-1", "-1"},
		{"access_log_retention_in_days", "-2", refused},
		{"deploy_progress_deadline", "0", "0"},
		{"deploy_progress_deadline", "29", refused},
		{"deploy_progress_deadline", "30", "30"},
		{"karpenter_node_volume_iops", "2999", refused},
		{"karpenter_node_volume_iops", "3000", "3000"},
		{"gpu_metrics_max_concurrent", "50", "50"},
		{"gpu_metrics_max_concurrent", "0", refused},
		{"dcgm_scrape_interval", "15s", "15s"},
		{"dcgm_scrape_interval", "5m", "5m"},
		{"dcgm_scrape_interval", "301s", refused},
		{"dcgm_scrape_interval", "60", refused},
		{"release_watcher_gc_interval", "1h", "1h"},
		{"node_capacity_type", "On_Demand", "On_Demand"},
		{"karpenter_arch", "amd64,arm64", "amd64,arm64"},
		{"karpenter_arch", "arm64,amd64", refused},
		{"karpenter_node_expiry", "Never", "Never"},
		{"karpenter_node_expiry", "never", refused},
		{"karpenter_node_expiry", "2562047h", "2562047h"},
		{"karpenter_node_expiry", "2562048h", refused}, // past what Karpenter's durations hold
		{"karpenter_consolidate_after", "99999999999s", refused},
		{"karpenter_consolidate_after", "30s", "30s"},
		{"karpenter_consolidate_after", "Never", refused},
		{"karpenter_node_labels", "a=b,c.d/e=f", "a=b,c.d/e=f"},
		{"karpenter_node_labels", "a=b,a=c", refused},
		{"karpenter_node_labels", "a=-b", refused},
		{"karpenter_node_labels", "-a=b", refused},
		{"karpenter_node_labels", "karpenter.sh/x=b", refused},
		{"karpenter_node_labels", "karpenter.k8s.aws/instance-cpu=4", "karpenter.k8s.aws/instance-cpu=4"},
		{"karpenter_node_labels", "karpenter.k8s.aws/instance-cpus=4", refused},
		{"karpenter_node_labels", "kubernetes.io/hostname=b", refused},
		{"karpenter_node_labels", "convox.io/nodepool=b", refused},
		{"karpenter_node_labels", "convox-build=true", "convox-build=true"},
		{"karpenter_build_node_labels", "convox-build=true", refused},
		{"karpenter_node_labels", "a=" + strings.Repeat("x", 64), refused},
		{"karpenter_node_labels", manyLabels(98), manyLabels(98)},
		{"karpenter_node_labels", manyLabels(99), refused},
		{"karpenter_node_taints", "a=b:NoSchedule,a=b:NoExecute,c:PreferNoSchedule", "a=b:NoSchedule,a=b:NoExecute,c:PreferNoSchedule"},
		{"karpenter_node_taints", "a=:NoSchedule", "a=:NoSchedule"},
		{"karpenter_node_taints", "a!:NoSchedule", refused},
		{"karpenter_node_taints", "a=b:NoWay", refused},
		{"karpenter_instance_families", "c5,m5", "c5,m5"},
		{"karpenter_instance_families", strings.Repeat("x", 64), refused},
		{"tags", "a=b", "a=b"},
		{"tags", "a=b c", refused},
		{"user_data", "#!/bin/sh\r\n\techo", "#!/bin/sh\r\n\techo"},
		{"user_data", "a\x1bb", refused},
		{"user_data", "\xff", refused},
		{"user_data", "\ufffd", refused},
		{"user_data", strings.Repeat("x", maxTextBytes), strings.Repeat("x", maxTextBytes)},
		{"user_data", strings.Repeat("x", maxTextBytes+1), refused},
		{"user_data", strings.Repeat("x", 1<<20), refused},
		{"docker_hub_username", "", ""},
		{"idle_timeout", "", refused},
		{"custom_provided_bucket", "", refused},
		{"karpenter_config", "", "e30="},
		{"additional_node_groups_config", "", "W10="},
	} {
		stored, problems := Find(test.name).check(test.value, context{karpenter: 13})
		what := fmt.Sprintf("%s=%.60q", test.name, test.value)
		if test.stored == refused {
			assert.NotEmpty(t, problems, what)
			continue
		}
		assert.Empty(t, problems, what)
		assert.Equal(t, test.stored, stored, what)
	}
}

func manyLabels(n int) string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprintf("label%d=x", i)
	}
	return strings.Join(labels, ",")
}

// TestSensitiveValuesStaySecret gives each sensitive parameter a value that is refused, and looks for it in the message.
func TestSensitiveValuesStaySecret(t *testing.T) {
	checked := 0
	for _, p := range catalog {
		if !p.Sensitive {
			continue
		}
		for _, value := range []string{"marker\x1b", "marker" + strings.Repeat("x", maxTextBytes)} {
			_, problems := p.check(value, context{})
			require.NotEmpty(t, problems, p.Name)
			assert.NotContains(t, strings.Join(problems, "\n"), "marker", p.Name)
			checked++
		}
	}
	assert.Equal(t, 16, checked)
}

func TestDocuments(t *testing.T) {
	p := Find("karpenter_config")
	compact := base64.StdEncoding.EncodeToString([]byte(`{"nodePool":{"weight":7}}`))
	read := func(path string, limit int) ([]byte, error) {
		assert.Equal(t, 64<<10, limit)
		if path == "weight.json" {
			return []byte("{ \"nodePool\": {\n\"weight\": 7 } }"), nil
		}
		return nil, errors.New("no such file")
	}
	for _, value := range []string{
		`{"nodePool":{"weight":7}}`, " {\"nodePool\" :\t{\"weight\": 7 } }\n", compact, strings.TrimRight(compact, "="), "weight.json",
	} {
		stored, problems := p.check(value, context{karpenter: 13, readFile: read})
		assert.Empty(t, problems, value)
		assert.Equal(t, compact, stored, value)
		assert.Equal(t, `{"nodePool":{"weight":7}}`, p.Show(stored), value)
	}
	for value, problem := range map[string]string{
		"garbage":              "neither JSON, nor base64 of JSON",
		"null":                 "null is not an object",
		"5":                    "the number 5 is not an object",
		`"x"`:                  `the string "x" is not an object`,
		"bm90IGpzb24=":         "neither JSON",
		"[]":                   "a list is not an object",
		"{":                    "unexpected end of JSON input",
		"{} {}":                "after top-level value",
		`{"nodePool":"x"}`:     `nodePool: the string "x" is not an object`,
		`{"nodePool":{"x":1}}`: `nodePool.x: unknown key "x"`,
		"other.json":           "no such file",
		`{"ec2NodeClass":"` + strings.Repeat("x", 64<<10) + `"}`: "65536 at most",
		strings.Repeat("A", 1<<20):                               "at most are taken",
	} {
		_, problems := p.check(value, context{karpenter: 13, readFile: read})
		assert.Contains(t, strings.Join(problems, "\n"), problem, "%.60q", value)
	}
	_, problems := p.check("weight.json", context{karpenter: 13})
	assert.Contains(t, strings.Join(problems, "\n"), "is the path of a file", "stored values name no files")
}

// TestCustomPoolLists shows that a list of words may be written either way.
func TestCustomPoolLists(t *testing.T) {
	for _, value := range []string{
		`[{"name":"a","arch":"amd64,arm64","capacity_types":"spot","instance_families":"c5,m5"}]`,
		`[{"name":"a","arch":["amd64","arm64"],"capacity_types":["spot"],"instance_families":["c5","m5"]}]`,
	} {
		rack, err := NewRack("aws", nil)
		require.NoError(t, err)
		outcome, err := rack.Apply(Change{Set: map[string]string{"additional_karpenter_nodepools_config": value}})
		require.NoError(t, err)
		pools, err := outcome.Rack.CustomPools()
		require.NoError(t, err)
		require.Len(t, pools, 1)
		assert.Equal(t, []string{"amd64", "arm64"}, pools[0].Arch)
		assert.Equal(t, []string{"spot"}, pools[0].CapacityTypes)
		assert.Equal(t, []string{"c5", "m5"}, pools[0].InstanceFamilies)
		assert.Equal(t, "10%", pools[0].DisruptionBudgetNodes, "a default")
	}
}

func TestFamilyArch(t *testing.T) {
	for family, want := range map[string]string{
		"t4g": arm64, "c7g": arm64, "m6gd": arm64, "im4gn": arm64, "a1": arm64, "x2gd": arm64, "c7gn": arm64, "hpc7g": arm64, "g5g": arm64,
		"t3": amd64, "c5": amd64, "g5": amd64, "g4dn": amd64, "m6i": amd64, "p4d": amd64, "a10": amd64,
		"u7i12tb": "", "metal": "", "5": "", "": "",
	} {
		assert.Equal(t, want, familyArch(family), family)
	}
	for instance, want := range map[string]string{
		"t3.small": amd64, "m7g.large": arm64, "a1.metal": arm64, "t4g.small,t3.small": arm64, "n1-standard-1": amd64, "": amd64,
	} {
		assert.Equal(t, want, instanceArch(instance), instance)
	}
}
