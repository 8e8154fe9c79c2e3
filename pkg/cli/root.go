package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Command returns the whole tree of commands of a program of that name, for documents that are made from it.
func Command(name string) *cobra.Command { return newRoot(&app{name: name}, nil) }

// newRoot makes the tree of commands, as far as the arguments need it.
func newRoot(a *app, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   a.name,
		Short: "Check, keep and explain the disruption settings of Convox racks",
		Long: `Checks changes to the parameters of Convox racks before they are stored, and renders the
Karpenter NodePools that follow from them.

Settings live in CONVOX_CONFIG, else in convox in your XDG configuration folder. With CONVOX_STORE set to
kube://[CONTEXT/]NAMESPACE racks are kept in a cluster instead, for a team.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// Cobra's own flag prints by a template, and with templates come the methods of every type that there is.
	showVersion := root.Flags().BoolP("version", "v", false, "print the version of this program")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *showVersion {
			return a.printVersion()
		}
		return cmd.Help()
	}
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) (err error) {
		// An empty one is a variable that is not set, and does not mean the current rack, all groups or no file.
		cmd.Flags().Visit(func(f *pflag.Flag) {
			values := []string{f.Value.String()}
			if list, repeated := f.Value.(pflag.SliceValue); repeated {
				values = list.GetSlice()
			}
			if isText := f.Value.Type() == "string" || f.Value.Type() == "stringArray"; isText && slices.Contains(values, "") && err == nil {
				err = fmt.Errorf("--%s is empty; give it a value, or leave the flag out", f.Name)
			}
		})
		return err
	}
	root.PersistentFlags().StringVarP(&a.rack, "rack", "r", "", "the rack `NAME`, else CONVOX_RACK, else the current one")
	root.PersistentFlags().StringVar(&a.access.Kubeconfig, "kubeconfig", "", "the kubeconfig `FILE` of the cluster, else RACK_URL, else as kubectl")
	root.PersistentFlags().StringVar(&a.access.Context, "context", "", "the context `NAME` of the kubeconfig, else its current one")
	_ = root.RegisterFlagCompletionFunc("rack", a.completeRacks)
	_ = root.RegisterFlagCompletionFunc("context", a.completeContexts)

	commandTree(a).grow(root, args)
	root.CompletionOptions.DisableDefaultCmd = len(root.Commands()) == 1 // one is named, and it is not that
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finish(root, a.name)
	return root
}

// branch is a command and those below it.
type branch struct {
	name string
	make func() *cobra.Command
	below
}

// below are the commands below another one.
type below []branch

// grow puts the commands below parent: only the one that the arguments name, if they begin with a name, else all. To make a command
// with its flags takes as long as reading a file, and there are some thirty.
func (b below) grow(parent *cobra.Command, args []string) {
	for _, child := range b {
		if len(args) > 0 && child.name == args[0] {
			child.growOn(parent, args[1:])
			return
		}
	}
	for _, child := range b {
		child.growOn(parent, nil)
	}
}

func (b branch) growOn(parent *cobra.Command, args []string) {
	cmd := b.make()
	b.grow(cmd, args)
	parent.AddCommand(cmd)
}

// commandTree is the whole tree of commands.
func commandTree(a *app) below {
	leaf := func(name string, make func(*app) *cobra.Command) branch {
		return branch{name, func() *cobra.Command { return make(a) }, nil}
	}
	group := func(name, short string, children ...branch) branch {
		return branch{name, func() *cobra.Command { return &cobra.Command{Use: name, Short: short} }, children}
	}
	params := branch{"params", func() *cobra.Command {
		return newParamsList(a, "params", "List the stored parameters of a rack, and more with its commands")
	}, below{
		{"list", func() *cobra.Command { return newParamsList(a, "list", "List the stored parameters of a rack") }, nil},
		leaf("get", newParamsGet), leaf("set", newParamsSet), leaf("unset", newParamsUnset), leaf("render", newParamsRender), leaf("diff", newParamsDiff),
		leaf("validate", newParamsValidate), leaf("describe", newParamsDescribe), leaf("history", newParamsHistory), leaf("apply", newParamsApply),
	}}
	return below{
		leaf("racks", newRacks), leaf("switch", newSwitch),
		group("rack", "Work with racks and their parameters", leaf("create", newRackCreate), leaf("delete", newRackDelete), leaf("copy", newRackCopy), params),
		group("nodepool", "Look into the disruption budgets of NodePools", leaf("lint", newNodepoolLint), leaf("explain", newNodepoolExplain),
			leaf("timeline", newNodepoolTimeline), leaf("window", newNodepoolWindow), leaf("status", newNodepoolStatus)),
		group("api", "Talk to the API of a cluster", leaf("get", newAPIGet)),
		leaf("version", newVersion),
	}
}

// finish goes through the tree for what every command has: the program's name in its examples, and an error where a
// word stands for no command.
func finish(cmd *cobra.Command, name string) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Example = strings.ReplaceAll(cmd.Example, "convox ", name+" ")
	if cmd.HasSubCommands() {
		cmd.Args = noSuchCommand
		if cmd.Run == nil && cmd.RunE == nil {
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	for _, child := range cmd.Commands() {
		finish(child, name)
	}
}

func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		message += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return fmt.Errorf("%s", message)
}

// arguments checks how many arguments a command gets; what names them for a person, such as "a rack's NAME". No limit
// above is set where most is 0.
func arguments(what string, least, most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return fmt.Errorf("%s is missing", what)
		case most > 0 && len(args) > most:
			return fmt.Errorf("%q is one argument too many", args[most])
		}
		return nil
	}
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is one argument too many: the command takes none", args[0])
	}
	return nil
}

// newHelp is cobra's help command, but that it fails where there is no such command.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return fmt.Errorf("unknown command %q", strings.Join(args, " "))
			}
			return cmd.Help()
		},
	}
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of this program", Args: noArguments,
		RunE: run(func([]string) error { return a.printVersion() }),
	}
}

func (a *app) printVersion() error {
	_, err := fmt.Fprintln(a.Out, version)
	return err
}
