package render

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"

	"rackparams/pkg/nodepool"

	"gopkg.in/yaml.v3"
)

// BudgetsOnly leaves of each pool what names it and its disruption budgets.
func BudgetsOnly(pools []nodepool.NodePool) []nodepool.NodePool {
	reduced := make([]nodepool.NodePool, len(pools))
	for i, pool := range pools {
		reduced[i] = nodepool.NodePool{APIVersion: pool.APIVersion, Kind: pool.Kind, Metadata: pool.Metadata}
		reduced[i].Spec.Disruption.Budgets = pool.Spec.Disruption.Budgets
	}
	return reduced
}

// YAML writes the pools as a stream of YAML documents, the same to the byte for the same pools.
func YAML(w io.Writer, pools []nodepool.NodePool) error {
	buffered := bufio.NewWriter(w)
	for i := range pools {
		if i > 0 {
			buffered.WriteString("---\n")
		}
		encoder := yaml.NewEncoder(buffered)
		encoder.SetIndent(2)
		if err := encoder.Encode(&pools[i]); err != nil {
			return err
		}
		if err := encoder.Close(); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// JSON writes the pools as a Kubernetes List in JSON.
func JSON(w io.Writer, pools []nodepool.NodePool) error {
	list := struct {
		APIVersion string              `json:"apiVersion"`
		Items      []nodepool.NodePool `json:"items"`
		Kind       string              `json:"kind"`
	}{"v1", pools, "List"}
	if list.Items == nil {
		list.Items = []nodepool.NodePool{}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(list); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}
