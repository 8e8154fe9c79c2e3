package params

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The CPU architectures, by the names that Kubernetes gives them.
const (
	amd64 = "amd64"
	arm64 = "arm64"
)

// familyPattern is how EC2 names its instance families: letters, the generation, and letters for what is special.
var familyPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]+[0-9]+([a-z]*)$`) })

// familyArch returns the architecture of an EC2 instance family: arm64 where the letters behind the generation hold a
// "g" (t4g, c7g, m6gd, im4gn), and for a1. Names that do not follow the scheme have none.
func familyArch(family string) string {
	match := familyPattern().FindStringSubmatch(family)
	switch {
	case match == nil:
		return ""
	case family == "a1", strings.Contains(match[1], "g"):
		return arm64
	}
	return amd64
}

// instanceArch returns the architecture of an instance type such as "t3.small", or of the first of several; amd64 where
// its name does not say.
func instanceArch(instanceType string) string {
	first, _, _ := strings.Cut(instanceType, ",")
	family, _, _ := strings.Cut(first, ".")
	if familyArch(family) == arm64 {
		return arm64
	}
	return amd64
}

// WorkloadArchs returns the architectures of the workload pool: karpenter_arch, else that of node_type.
func (r Rack) WorkloadArchs() []string {
	if arch := r.Value("karpenter_arch"); arch != "" {
		return strings.Split(arch, ",")
	}
	return []string{instanceArch(r.Value("node_type"))}
}

// BuildArch returns the architecture of the build pool: that of build_node_type, else of node_type.
func (r Rack) BuildArch() string {
	if instanceType := r.Value("build_node_type"); instanceType != "" {
		return instanceArch(instanceType)
	}
	return instanceArch(r.Value("node_type"))
}

// BuildFamilies returns the instance families of the build pool: its own, else those of the workload pool.
func (r Rack) BuildFamilies() string {
	if families := r.Value("karpenter_build_instance_families"); families != "" {
		return families
	}
	return r.Value("karpenter_instance_families")
}

// BuildSizes returns the instance sizes of the build pool: its own, else those of the workload pool.
func (r Rack) BuildSizes() string {
	if sizes := r.Value("karpenter_build_instance_sizes"); sizes != "" {
		return sizes
	}
	return r.Value("karpenter_instance_sizes")
}

// fits reports whether one of the families, separated by commas, has one of the architectures. A family whose name does
// not say passes, and no families at all leave the choice to Karpenter.
func fits(families string, archs []string) bool {
	return families == "" || slices.ContainsFunc(strings.Split(families, ","), func(family string) bool {
		arch := familyArch(family)
		return arch == "" || slices.Contains(archs, arch)
	})
}
