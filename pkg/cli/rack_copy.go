package cli

import (
	"errors"
	"fmt"
	"strings"

	"rackparams/params"
	"rackparams/pkg/shape"
	"rackparams/pkg/store"

	"github.com/spf13/cobra"
)

func newRackCopy(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "copy FROM TO", Short: "Copy a rack, between stores too",
		Long: `Copies the parameters of a rack, with its provider. FROM and TO are the name of a rack in the store in use,
or say where it is: kube://[CONTEXT/]NAMESPACE/NAME in a cluster, file://NAME in your settings folder,
file:///FOLDER/NAME in another one. TO must be free.`,
		Example: `  convox rack copy prod staging
  convox rack copy file://prod kube://platform/prod`,
		Args: func(cmd *cobra.Command, args []string) error {
			for _, arg := range args {
				if arg == "" {
					return errors.New("an empty argument names no rack")
				}
			}
			return arguments("FROM, the rack to copy, or TO, its new name,", 2, 2)(cmd, args)
		},
		ValidArgsFunction: a.completeAfterName(nil),
		RunE: run(func(args []string) error {
			from, fromName, err := a.place(args[0])
			if err != nil {
				return err
			}
			to, toName, err := a.place(args[1])
			if err != nil {
				return err
			}
			rack, err := from.Rack(fromName)
			if err != nil {
				return err
			}
			named := rack
			named.Name = toName
			if named.Rack, err = renamed(rack, toName); err != nil {
				return err
			}
			if err := to.Create(named); err != nil {
				return err
			}
			if rack.InFolder {
				a.notice("Terraform goes on to work in the folder of %s: what is set on the copy does not reach the rack", fromName)
			}
			_, err = fmt.Fprintln(a.Out, "Copying rack... OK")
			return err
		}),
	}
}

// renamed is a rack whose stored name, if it has one, is another.
func renamed(rack store.Rack, name string) (params.Rack, error) {
	values := rack.Stored()
	if _, stored := values["name"]; stored {
		values["name"] = name
	}
	return params.NewRack(rack.Provider.String(), values)
}

// place reads where a rack is: its name in the store in use, or a store and the name.
func (a *app) place(text string) (store.Store, string, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		s, err := a.store()
		if err == nil {
			err = store.CheckName(text)
		}
		return s, text, err
	}
	slash := strings.LastIndexByte(rest, '/')
	folder, name := rest[:max(slash, 0)], rest[slash+1:]
	if slash == 0 {
		folder = "/" // and not none
	}
	if err := store.CheckName(name); err != nil {
		return nil, "", fmt.Errorf("%s: %w", shape.Quote(text), err)
	}
	s, err := a.storeAt(scheme + "://" + folder)
	if err != nil {
		err = fmt.Errorf("%s: %w", shape.Quote(text), err)
	}
	return s, name, err
}
