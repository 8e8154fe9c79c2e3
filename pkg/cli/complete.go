package cli

import (
	"slices"
	"strings"

	"rackparams/params"
	"rackparams/pkg/kube"
	"rackparams/pkg/window"
	"rackparams/render"

	"github.com/spf13/cobra"
)

// completion is a function that completes the arguments of a command, or the value of a flag.
type completion = func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

const noFiles = cobra.ShellCompDirectiveNoFileComp

func (a *app) completeRacks(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	s, err := a.store()
	if err != nil {
		return nil, noFiles
	}
	names, _ := s.Names()
	return names, noFiles
}

// completeAfterName completes a rack's name as the first argument, and the others as rest does.
func (a *app) completeAfterName(rest completion) completion {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0 && rest == nil:
			return a.completeRacks(cmd, args, toComplete)
		case len(args) > 0 && rest != nil:
			return rest(cmd, args[1:], toComplete)
		}
		return nil, noFiles
	}
}

// providerFor is the provider of the rack that a command is about, or none, which every parameter has, where that cannot be
// told.
func (a *app) providerFor() params.Providers {
	rack, err := a.loadRack()
	if err != nil {
		return 0
	}
	return rack.Provider
}

// completeAssignments completes Key=Value: the names that are not given yet, then the values of those that take a few.
func (a *app) completeAssignments(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if name, _, found := strings.Cut(toComplete, "="); found {
		p := params.Find(name)
		if p == nil {
			return nil, noFiles
		}
		var values []string
		for _, value := range p.Values() {
			values = append(values, name+"="+value)
		}
		if p.Type == params.JSON {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return values, noFiles
	}
	provider := a.providerFor()
	var names []string
	for _, p := range params.All() {
		given := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, p.Name+"=") })
		if strings.HasPrefix(p.Name, toComplete) && p.Providers.Has(provider) && !given && !p.IsIdentity() {
			names = append(names, p.Name+"=\t"+firstSentence(p.Doc))
		}
	}
	return names, noFiles | cobra.ShellCompDirectiveNoSpace
}

func (a *app) completeNames(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	provider := a.providerFor()
	var names []string
	for _, p := range params.All() {
		if strings.HasPrefix(p.Name, toComplete) && p.Providers.Has(provider) && !p.IsIdentity() && !slices.Contains(args, p.Name) {
			names = append(names, p.Name+"\t"+firstSentence(p.Doc))
		}
	}
	return names, noFiles
}

func (a *app) completeStored(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	rack, err := a.loadRack()
	if err != nil {
		return nil, noFiles
	}
	return slices.DeleteFunc(rack.Names(), func(name string) bool { return slices.Contains(args, name) }), noFiles
}

func completeGroups(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return params.Groups(), noFiles
}

func (a *app) completePools(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	rack, err := a.loadRack()
	if err != nil {
		return nil, noFiles
	}
	pools, _ := render.NodePools(rack.Rack)
	var names []string
	for _, pool := range pools {
		names = append(names, pool.Metadata.Name)
	}
	return names, noFiles
}

func (a *app) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return kube.Contexts(a.access.Kubeconfig), noFiles
}

func completeZones(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return window.ZoneNames(), noFiles
}

// completeProvider completes the flag --provider.
func completeProvider(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions(params.ProviderNames(), noFiles))
}

func firstSentence(text string) string {
	sentence, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(sentence, ".")
}
