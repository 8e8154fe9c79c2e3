package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"rackparams/params"
	"rackparams/render"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

func newParamsDiff(a *app) *cobra.Command {
	var release releaseFlag
	cmd := &cobra.Command{
		Use: "diff [Key=Value]...", Short: "Show what a change would do to the NodePools of a rack",
		Long: `Prints a unified diff of the rendered NodePools, now against then. The exit status is 1 when they differ.`,
		Example: `  convox rack params diff karpenter_disruption_budget_nodes=20%
  convox rack params diff --release 3.25.6`,
		ValidArgsFunction: a.completeAssignments, PreRunE: checkAssignments(0),
	}
	cmd.Flags().Var(&release, "release", "as the rack would render at this release")
	cmd.RunE = run(func(args []string) error {
		rack, changed, err := a.preview(args, release)
		if err != nil {
			return err
		}
		now, err := renderText(rack.Rack)
		if err != nil {
			return err
		}
		then, err := renderText(changed)
		if err != nil {
			return err
		}
		if now == nil && then == nil {
			a.noticeKarpenterOff(changed)
		}
		// A diff of texts that are alike is empty.
		text := diff.Diff(rack.Name+" now", now, rack.Name+" then", then)
		if len(text) == 0 {
			return nil
		}
		if err := writeDiff(a.Out, text, colour(a.Out)); err != nil {
			return err
		}
		return errSilent
	})
	return cmd
}

func renderText(rack params.Rack) ([]byte, error) {
	pools, err := render.NodePools(rack)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = render.YAML(&text, pools)
	return text.Bytes(), err
}

// writeDiff writes a unified diff without its first line, which names a command.
func writeDiff(w io.Writer, text []byte, coloured bool) error {
	_, text, _ = bytes.Cut(text, []byte("\n"))
	if !coloured {
		_, err := w.Write(text)
		return err
	}
	colours := map[byte]string{'+': "\x1b[32m", '-': "\x1b[31m", '@': "\x1b[36m"}
	for line := range strings.Lines(string(text)) {
		if colour, found := colours[line[0]]; found {
			line = colour + strings.TrimSuffix(line, "\n") + "\x1b[0m\n"
		}
		if _, err := fmt.Fprint(w, line); err != nil {
			return err
		}
	}
	return nil
}
