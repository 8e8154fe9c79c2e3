// Package params is the catalog of Convox rack parameters and the checking of a change to them.
//
// A change goes through here before anything is stored: Rack.Apply takes what a rack holds and what someone wants to
// set, and returns either the rack as it would be or everything that is wrong, at once. The package is pure: it touches
// no files and prints nothing.
package params

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"rackparams/pkg/shape"
)

// Parameter is one rack parameter, as the catalog describes it.
type Parameter struct {
	Name      string
	Providers Providers
	Type      Type
	// Default is the value in effect while none is stored; empty where there is none.
	Default string
	// Value is what the parameter takes.
	Value Value
	// Groups are the groups that list the parameter, separated by spaces.
	Groups string
	// Clearable parameters take an empty value, which stays listed as empty.
	Clearable bool
	// Sensitive values are masked on a terminal and never written to an error or a diff.
	Sensitive bool
	// Managed parameters are set by rack updates.
	Managed bool
	// InstallOnly parameters are fixed when the rack is installed.
	InstallOnly bool
	// Since is the rack release that brought the parameter; empty means that it was always there.
	Since string
	// Doc says what the parameter does, in a sentence or two.
	Doc string
}

// Type is the type of a parameter, as Terraform declares it.
type Type string

// The types of parameters. The values of all of them are stored as strings; those of JSON as base64.
const (
	String Type = "string"
	Bool   Type = "bool"
	Number Type = "number"
	JSON   Type = "json"
)

// Providers is a set of the providers that racks run on.
type Providers uint8

// The providers.
const (
	AWS Providers = 1 << iota
	GCP
	Azure
	DO
	Metal
	Local

	everywhere = AWS | GCP | Azure | DO | Metal | Local
)

var providerNames = []string{"aws", "gcp", "azure", "do", "metal", "local"}

// ProviderNames returns the names of all providers.
func ProviderNames() []string { return slices.Clone(providerNames) }

// ParseProvider reads the name of a provider.
func ParseProvider(name string) (Providers, error) {
	if i := slices.Index(providerNames, name); i >= 0 {
		return 1 << i, nil
	}
	return 0, fmt.Errorf("unknown provider %s; write %s", shape.Quote(name), shape.Enumerate(providerNames, "or"))
}

// Has reports whether the set holds all of other.
func (p Providers) Has(other Providers) bool { return p&other == other }

// Names returns the names of the set's providers.
func (p Providers) Names() []string {
	var names []string
	for i, name := range providerNames {
		if p.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// String returns the names, separated by spaces.
func (p Providers) String() string { return strings.Join(p.Names(), " ") }

// All returns every parameter, sorted by name.
func All() []Parameter { return catalog }

// Find returns the parameter of that name, or nil.
func Find(name string) *Parameter {
	i, found := slices.BinarySearchFunc(catalog, name, func(p Parameter, name string) int { return strings.Compare(p.Name, name) })
	if !found {
		return nil
	}
	return &catalog[i]
}

// MayBeSecret reports whether the value stored under a name is sensitive, or may be because the catalog does not know it.
func MayBeSecret(name string) bool {
	p := Find(name)
	return p == nil || p.Sensitive
}

// UnknownName says that there is no parameter of that name, and suggests the nearest one that the provider knows.
func UnknownName(name string, provider Providers) string {
	var names []string
	for _, p := range catalog {
		if p.Providers.Has(provider) {
			names = append(names, p.Name)
		}
	}
	message := "unknown parameter " + shape.Quote(name)
	if hint := shape.DidYouMean(name, names); hint != "" {
		return message + hint
	}
	return message + "; `rack params describe` lists the parameters"
}

// InGroup reports whether the parameter is listed under group.
func (p *Parameter) InGroup(group string) bool {
	return slices.Contains(strings.Fields(p.Groups), group)
}

// IsIdentity reports whether the parameter says which rack this is; such ones are neither listed nor unset.
func (p *Parameter) IsIdentity() bool { return slices.Contains(identity, p.Name) }

// Values returns the values that the parameter takes, where they are a few.
func (p *Parameter) Values() []string {
	switch value := p.Value.(type) {
	case words:
		return slices.Clone(value.words)
	case boolean:
		return []string{"true", "false"}
	}
	return nil
}

// groups has every group; nlb holds parameters of version 2 racks only, so nothing here.
var groups = sync.OnceValue(func() []string {
	names := []string{"nlb"}
	for _, p := range catalog {
		names = append(names, strings.Fields(p.Groups)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
})

// Groups returns the names of all groups, sorted.
func Groups() []string { return slices.Clone(groups()) }

// FindGroup returns the group that name means: its name or a unique prefix of it, in any case.
func FindGroup(name string) (string, error) {
	lower := strings.ToLower(name)
	var matches []string
	for _, group := range groups() {
		if group == lower {
			return group, nil
		}
		if lower != "" && strings.HasPrefix(group, lower) {
			matches = append(matches, group)
		}
	}
	switch len(matches) {
	case 1:
		return matches[0], nil
	case 0:
		return "", fmt.Errorf("unknown group %s; the groups are %s", shape.Quote(name), strings.Join(groups(), ", "))
	}
	return "", fmt.Errorf("the group %s is ambiguous: it may be %s; the groups are %s", shape.Quote(name), shape.Enumerate(matches, "or"), strings.Join(groups(), ", "))
}

// Show returns a stored value as people read it: JSON decoded, everything else as it is.
func (p *Parameter) Show(stored string) string {
	if p.Type == JSON && stored != "" {
		if data, err := decodeDocument(stored); err == nil {
			return string(data)
		}
	}
	return stored
}

// Mask stands for a sensitive value wherever it may not be shown.
const Mask = "**********"
