package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkStart runs `version` as a process, beside the least that a cobra program can be.
func BenchmarkStart(b *testing.B) {
	for _, program := range []struct{ name, pkg string }{{"convox", "rackparams/cmd/convox"}, {"emptycobra", "../../testdata/emptycobra"}} {
		path := filepath.Join(b.TempDir(), program.name)
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, program.pkg)
		build.Env = append(build.Environ(), "CGO_ENABLED=0")
		output, err := build.CombinedOutput()
		require.NoError(b, err, string(output))
		b.Run(program.name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, exec.Command(path, "version").Run())
			}
		})
	}
}
