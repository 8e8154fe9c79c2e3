package render

import (
	"bytes"
	"encoding/json"
	"io"

	"rackparams/pkg/nodepool"
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
