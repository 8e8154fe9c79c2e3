package params

import (
	"testing"

	"rackparams/pkg/nodepool"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func mustRack(t *testing.T, provider string, stored map[string]string) Rack {
	t.Helper()
	rack, err := NewRack(provider, stored)
	require.NoError(t, err)
	return rack
}

// TestApplyLeavesTheRackAlone shows that a rack is a value: neither a change that passes nor one that is refused
// changes it.
func TestApplyLeavesTheRackAlone(t *testing.T) {
	rack := mustRack(t, "aws", map[string]string{"idle_timeout": "100"})
	outcome, err := rack.Apply(Change{Set: map[string]string{"idle_timeout": "200"}})
	require.NoError(t, err)
	assert.Equal(t, "200", outcome.Rack.Value("idle_timeout"))
	assert.Equal(t, "100", rack.Value("idle_timeout"))

	outcome, err = rack.Apply(Change{Set: map[string]string{"idle_timeout": "1", "keda_enable": "true"}})
	assert.Error(t, err)
	assert.Equal(t, Outcome{}, outcome)
	assert.Equal(t, map[string]string{"idle_timeout": "100"}, rack.Stored())
}

// TestProblemsAreStable shows that the problems of a change come in the same order on every run.
func TestProblemsAreStable(t *testing.T) {
	rack := mustRack(t, "aws", nil)
	change := Change{Set: map[string]string{
		"a": "", "b": "", "c": "", "idle_timeout": "x", "keda_enable": "x", "vpc_id": "x", "node_disk": "1", "release": "x",
		"karpenter_enabled": "true", "schedule_rack_scale_up": "0 0 * * *", blockScheduleName: "@daily",
	}}
	_, first := rack.Apply(change)
	require.Len(t, first, 12)
	for range 50 {
		_, again := rack.Apply(change)
		require.Equal(t, first, again)
	}
}

// TestReleaseOfTheSameCall shows that what is set together with a release has to fit the new one.
func TestReleaseOfTheSameCall(t *testing.T) {
	window := map[string]string{blockScheduleName: "@daily", blockDurationName: "1h", "release": "3.25.6"}
	rack := mustRack(t, "aws", map[string]string{"release": "3.25.2"})
	outcome, err := rack.Apply(Change{Set: window, Force: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"release is managed: rack updates set it"}, outcome.Warnings)
	assert.Equal(t, Release("3.25.6"), outcome.Rack.Release)
	_, _, found := outcome.Rack.Window()
	assert.True(t, found)
}

// TestUntouchedRulesStaySilent shows that a rule across parameters is asked only when a change touches it: what someone
// stored by hand does not stand in the way of something else.
func TestUntouchedRulesStaySilent(t *testing.T) {
	rack := mustRack(t, "aws", map[string]string{blockScheduleName: "@daily", "schedule_rack_scale_up": "0 0 * * *", "karpenter_enabled": "true"})
	_, err := rack.Apply(Change{Set: map[string]string{"idle_timeout": "100"}})
	assert.NoError(t, err)
	_, err = rack.Validate(nil)
	assert.Len(t, err, 3)
}

func TestWindowNeedsItsRelease(t *testing.T) {
	stored := map[string]string{blockScheduleName: "@daily", blockDurationName: "1h"}
	for release, want := range map[string]bool{"3.25.5": false, "3.25.6": true, "3.25.7": true, "3.24.9": false, "3.26.0": true} {
		stored["release"] = release
		_, _, found := mustRack(t, "aws", stored).Window()
		assert.Equal(t, want, found, release)
	}
}

func TestKarpenterIsForAWS(t *testing.T) {
	for _, provider := range ProviderNames() {
		rack := mustRack(t, provider, nil)
		_, err := rack.Apply(Change{Set: map[string]string{"karpenter_cpu_limit": "5", "additional_karpenter_nodepools_config": "[]"}, Force: true})
		if provider == "aws" {
			assert.NoError(t, err)
			continue
		}
		assert.Len(t, err, 2, provider)
	}
}

// TestEmptyStoredValues shows that an empty value where the default is empty too stands in nobody's way.
func TestEmptyStoredValues(t *testing.T) {
	rack := mustRack(t, "aws", map[string]string{"karpenter_arch": "", "custom_provided_bucket": "", "karpenter_auth_mode": "true"})
	_, err := rack.Validate(nil)
	assert.NoError(t, err)
	_, err = rack.Apply(Change{Set: map[string]string{"karpenter_enabled": "true"}})
	assert.NoError(t, err)
	assert.NoError(t, rack.CheckRendered())
	assert.ErrorContains(t, mustRack(t, "aws", map[string]string{"karpenter_cpu_limit": ""}).CheckRendered(), "karpenter_cpu_limit cannot be empty")
}

func TestWhyNoWindow(t *testing.T) {
	rack := mustRack(t, "aws", nil)
	both := nodepool.Reasons{nodepool.Drifted, nodepool.Underutilized}
	for _, test := range []struct {
		rack            Rack
		windows         []BlockWindow
		inWindow, never nodepool.Reasons
		want            string
	}{
		{rack, []BlockWindow{{"0 13 * * SAT", "164h"}}, both, nil, ""},
		{rack, []BlockWindow{{"@hourly", "30m"}}, both, nil, ""},
		{rack, []BlockWindow{{"0 2 * * MON,WED", "46h"}}, both, nil, "a rack's window on several weekdays is shorter than 24h, and this is 46h"},
		{rack, []BlockWindow{{"0 4,16 * * *", "10h"}}, both, nil, "its window opens more than once a day, and a rack's does not"},
		{rack, []BlockWindow{{"@daily", "1h"}, {"0 9 * * *", "1h"}}, both, nil, "it takes 2 windows, and a rack has one"},
		{rack, []BlockWindow{{"@daily", "1h"}}, nodepool.Reasons{nodepool.Drifted}, nil, "a rack's window is for Drifted and Underutilized together, and this is not"},
		{rack, []BlockWindow{{"@daily", "1h"}}, both, nodepool.Reasons{nodepool.Empty}, "a rack's window is for Drifted and Underutilized together, and this is not"},
		{rack.AtRelease("3.25.5"), []BlockWindow{{"@daily", "1h"}}, both, nil, "the rack's release 3.25.5 has none, they came with 3.25.6"},
	} {
		assert.Equal(t, test.want, test.rack.WhyNoWindow(test.windows, test.inWindow, test.never), test.windows)
	}
}

// TestWindowChange takes a list of budgets out of karpenter_config, which would replace the window, and leaves no empty parts of it.
func TestWindowChange(t *testing.T) {
	for config, want := range map[string]string{
		`{"nodePool":{"disruption":{"budgets":[{"nodes":"1"}]}}}`:                                       `{}`,
		`{"nodePool":{"weight":5,"disruption":{"budgets":[{"nodes":"1"}]}}}`:                            `{"nodePool":{"weight":5}}`,
		`{"nodePool":{"disruption":{"consolidateAfter":"1m","budgets":[]}},"ec2NodeClass":{"tags":{}}}`: `{"ec2NodeClass":{"tags":{}},"nodePool":{"disruption":{"consolidateAfter":"1m"}}}`,
	} {
		set, err := mustRack(t, "aws", map[string]string{"karpenter_config": config}).WindowChange("@daily", "1h")
		require.NoError(t, err)
		assert.Equal(t, [][2]string{{blockScheduleName, "@daily"}, {blockDurationName, "1h"}, {"karpenter_config", want}}, set)
	}
	set, err := mustRack(t, "aws", map[string]string{"karpenter_config": `{"nodePool":{"disruption":{}}}`}).WindowChange("@daily", "1h")
	require.NoError(t, err)
	assert.Len(t, set, 2, "what is not in the way stays")
}
