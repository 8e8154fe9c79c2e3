package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newDisk mounts a disk of 256 KiB for the program's settings.
func newDisk(t *testing.T) (p program, dir string) {
	t.Helper()
	path, err := build()
	require.NoError(t, err)
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("nothing may be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	p = program{path, filepath.Join(dir, "settings")}
	output, err := p.command("rack", "create", "prod").CombinedOutput()
	require.NoError(t, err, string(output))
	p.timeOf(t, "node_disk=20")
	return p, dir
}

// refused has a change be refused for a reason, with nothing stored.
func (p program) refused(t *testing.T, reason string) {
	t.Helper()
	before, err := os.ReadFile(p.vars())
	require.NoError(t, err)
	output, err := p.command("rack", "params", "set", "node_disk=30", "tags=a="+strings.Repeat("x", 6000)).CombinedOutput()
	require.Error(t, err)
	assert.Regexp(t, "^ERROR: [^\n]*"+reason+"\n$", string(output))
	after, err := os.ReadFile(p.vars())
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
	p.checkHistory(t, "20")
}

// TestFullDisk has no room left on the disk. Nothing is stored, nothing is lost, and when there is room again all goes on.
func TestFullDisk(t *testing.T) {
	p, dir := newDisk(t)
	filler := filepath.Join(dir, "filler")
	_ = os.WriteFile(filler, make([]byte, 1<<20), 0o600) // as much of it as there is room for
	p.refused(t, "no space left on device")
	require.NoError(t, os.Remove(filler))
	p.timeOf(t, "node_disk=40")
	p.checkHistory(t, "40")
}

// TestReadOnly cannot change anything, and reads all the same.
func TestReadOnly(t *testing.T) {
	p, dir := newDisk(t)
	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	p.refused(t, "read-only file system")
	output, err := p.command("rack", "params", "get", "node_disk").CombinedOutput()
	require.NoError(t, err, string(output))
	assert.Equal(t, "20\n", string(output))
}
