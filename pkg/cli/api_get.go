package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"rackparams/pkg/kube"

	"github.com/spf13/cobra"
)

func newAPIGet(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "get PATH", Short: "Print what a path of the API holds",
		Long: `Sends a GET and prints the answer as indented JSON. Through RACK_URL the path is one of the rack, whose
Kubernetes API is below /kubernetes; through a kubeconfig /kubernetes/... is the API server's own path.`,
		Example: `  convox api get /kubernetes/apis/karpenter.sh/v1/nodepools/workload
  convox api get /kubernetes/apis/karpenter.sh/v1/nodeclaims | jq -r '.items[].spec.expireAfter' | sort -u`,
		Args: arguments("the PATH", 1, 1), ValidArgsFunction: cobra.FixedCompletions([]string{
			"/kubernetes/apis/karpenter.sh/v1/nodepools", "/kubernetes/apis/karpenter.sh/v1/nodeclaims", "/kubernetes/api/v1/nodes",
		}, noFiles),
		PreRunE: func(_ *cobra.Command, args []string) error { return kube.CheckPath(args[0]) },
		RunE: run(func(args []string) error {
			client, err := a.cluster()
			if err != nil {
				return err
			}
			data, isJSON, err := client.Get(context.Background(), args[0])
			if err != nil {
				return err
			}
			if isJSON && !json.Valid(data) {
				return fmt.Errorf("what %s answered is not the JSON that it is given out as: it was cut off, or is no API's", client.Host())
			}
			return a.printAnswer(data)
		}),
	}
}

// printAnswer prints JSON indented, and what is none, such as the answer of /healthz, as the text that it is.
func (a *app) printAnswer(data []byte) error {
	var text bytes.Buffer
	if json.Indent(&text, bytes.TrimSpace(data), "", "  ") == nil {
		_, err := io.WriteString(a.Out, escapeJSON(text.String())+"\n")
		return err
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	for i, line := range lines {
		lines[i] = escape(line)
	}
	_, err := io.WriteString(a.Out, strings.Join(lines, "\n")+"\n")
	return err
}
