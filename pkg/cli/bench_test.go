package cli

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"rackparams/params"
	"rackparams/pkg/store"

	"github.com/stretchr/testify/require"
)

// BenchmarkSet sets one parameter of a rack that has every parameter of its provider stored, from the arguments to the
// file on the disk.
func BenchmarkSet(b *testing.B) {
	settings := b.TempDir()
	b.Setenv("CONVOX_CONFIG", settings)
	values := map[string]string{"release": params.NewestRelease, "karpenter_auth_mode": "true", "karpenter_enabled": "true"}
	for _, p := range params.All() {
		if _, given := values[p.Name]; given || !p.Providers.Has(params.AWS) {
			continue
		}
		values[p.Name] = p.Default
	}
	rack, err := params.NewRack("aws", values)
	require.NoError(b, err)
	require.NoError(b, store.OpenFolder(settings, "bench").Create(store.Rack{Rack: rack, Name: "rackName"}))
	for i := 0; b.Loop(); i++ {
		var errors strings.Builder
		status := Run([]string{"convox", "rack", "params", "set", "karpenter_cpu_limit=" + strconv.Itoa(1+i%100), "-r", "rackName"},
			Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errors})
		require.Zero(b, status, errors.String())
	}
	data, err := os.ReadFile(settings + "/racks/rackName/vars.json")
	require.NoError(b, err)
	require.Greater(b, len(data), 5000)
}
