package fleet

import (
	"bytes"
	"testing"

	"rackparams/pkg/nodepool"
)

// FuzzRead reads whatever comes as what kubectl prints. Nothing may panic, and no count is more than there are objects.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		`{"kind":"List","apiVersion":"v1","items":[` + claim("1", 0, "720h", "") + `,` + node("1", initialized, disrupted, "True") + `]}`,
		`{"kind":"NodeList","items":[{"metadata":{"name":"a"}}],"apiVersion":"v1"}`, `{"items":null}`, "\ufeff{}", `{"kind":"List","items":[[]]}`,
		`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"disruption":{"budgets":[{"nodes":"1"}]}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		fleet, err := Read(bytes.NewReader(text), "fuzz")
		if err != nil {
			if err.Error() == "" || fleet != nil {
				t.Fatal("half an error")
			}
			return
		}
		for _, pool := range fleet.Status([]nodepool.NodePool{{Metadata: nodepool.Metadata{Name: "a"}}}) {
			roll := pool.Roll()
			if pool.State.NotReady+pool.State.Deleting > pool.State.Nodes || pool.State.Nodes > len(fleet.Nodes) || roll.Done > roll.Total || roll.Total > len(fleet.Claims) {
				t.Fatalf("%+v %+v", pool.State, roll)
			}
			if pool.Live != nil && pool.Name == "" {
				t.Fatal("a pool without a name")
			}
			_ = pool.Missing(Armed)
		}
	})
}
