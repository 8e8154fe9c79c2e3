package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPages writes a page for every command, with its flags and examples.
func TestPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	require.NoError(t, write(dir))
	for name, want := range map[string]string{
		"convox.1": "convox-rack(1)", "convox-rack-params-set.1": `\fB--dry-run\fP`, "convox-nodepool-status.1": "kubectl get nodepools,nodeclaims,nodes",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if assert.NoError(t, err) {
			assert.Contains(t, string(text), want, name)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	require.NoError(t, err)
	assert.Greater(t, len(pages), 25)
}
