package cli

import (
	"cmp"
	"fmt"

	"rackparams/params"

	"github.com/spf13/cobra"
)

func newParamsValidate(a *app) *cobra.Command {
	v := &paramsValidate{app: a}
	cmd := &cobra.Command{
		Use: "validate", Short: "Check the stored parameters of a rack, or those of a file, as a whole",
		Example: `  convox rack params validate -r prod
  convox rack params validate --file params.yaml --provider aws --release 3.25.6`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&v.file, "file", "", "a `FILE` with a JSON or YAML map of parameters to check instead; - is stdin")
	cmd.Flags().Var(&v.provider, "provider", "as on this provider (default the rack's, or aws for a file)")
	cmd.Flags().Var(&v.release, "release", "as at this release (default the rack's, or the newest for a file)")
	completeProvider(cmd)
	cmd.RunE = run(func([]string) error { return v.run() })
	return cmd
}

type paramsValidate struct {
	*app
	file     string
	provider providerFlag
	release  releaseFlag
}

func (v *paramsValidate) run() error {
	rack, err := v.subject()
	if err != nil {
		return err
	}
	if v.release.Release != "" {
		rack = rack.AtRelease(v.release.Release)
	}
	// Only the values of a file may name other files: what is stored has been read already.
	var read params.ReadFile
	if v.file != "" {
		read = readRegularFile
	}
	warnings, err := rack.Validate(read)
	if err != nil {
		return err
	}
	v.warn(warnings...)
	_, err = fmt.Fprintln(v.Out, "Validating parameters... OK")
	return err
}

// subject is the rack to check: the stored one, or one with the values of the file.
func (v *paramsValidate) subject() (params.Rack, error) {
	if v.file != "" {
		values, err := v.fileAssignments(v.file)
		if err != nil {
			return params.Rack{}, err
		}
		return params.NewRack(cmp.Or(v.provider.name, params.AWS.String()), values)
	}
	rack, err := v.loadRack()
	if err != nil || v.provider.name == "" {
		return rack.Rack, err
	}
	return params.NewRack(v.provider.name, rack.Stored())
}
