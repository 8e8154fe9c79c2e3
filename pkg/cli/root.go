package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newRoot makes the whole tree of commands.
func newRoot(a *app) *cobra.Command {
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

	params := newParamsList(a, "params", "List the stored parameters of a rack, and more with its commands")
	params.AddCommand(
		newParamsList(a, "list", "List the stored parameters of a rack"),
		newParamsGet(a), newParamsSet(a), newParamsUnset(a), newParamsRender(a), newParamsDiff(a), newParamsValidate(a), newParamsDescribe(a), newParamsHistory(a), newParamsApply(a),
	)
	rack := group("rack", "Work with racks and their parameters", newRackCreate(a), newRackDelete(a), newRackCopy(a), params)
	nodepool := group("nodepool", "Look into the disruption budgets of NodePools", newNodepoolLint(a), newNodepoolExplain(a), newNodepoolTimeline(a), newNodepoolWindow(a), newNodepoolStatus(a))
	api := group("api", "Talk to the API of a cluster", newAPIGet(a))
	root.AddCommand(newRacks(a), newSwitch(a), rack, nodepool, api, newVersion(a))
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(newHelp(root))
	root.InitDefaultHelpCmd()
	finish(root, a.name)
	return root
}

// group makes a command that only holds others.
func group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short}
	cmd.AddCommand(commands...)
	return cmd
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
