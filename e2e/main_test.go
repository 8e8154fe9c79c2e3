package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"rackparams/e2e/cluster"

	"github.com/stretchr/testify/require"
)

// TestMain ends the cluster that the tests share, also when somebody interrupts them.
func TestMain(m *testing.M) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		closeShared()
		os.Exit(1)
	}()
	status := m.Run()
	closeShared()
	if err := writeLastRun(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func closeShared() {
	if shared.cluster != nil {
		shared.cluster.Close()
	}
}

// lastRun is a file that has go test run these tests each time. It sees no dependency on the program, which is built outside
// this module, and would go on showing a result that changes to the program have made wrong. But it keeps no result of tests
// that opened a file of their module which has just been written.
var lastRun = filepath.Join(".cache", "last-run")

// openLastRun is the opening, which counts during a test only.
func openLastRun() { _, _ = os.ReadFile(lastRun) }

// writeLastRun is the writing, which has to come last.
func writeLastRun() error {
	if err := os.MkdirAll(filepath.Dir(lastRun), 0o755); err != nil {
		return err
	}
	return os.WriteFile(lastRun, nil, 0o644)
}

// shared is the cluster of all tests, since starting one takes a while. They take it in turns.
var shared struct {
	once    sync.Once
	cluster *cluster.Cluster
	err     error
}

// sharedCluster returns the cluster of all tests as each test wants to find it: running, with the CRDs that racks have and
// without any of their objects.
func sharedCluster(t testing.TB) *cluster.Cluster {
	t.Helper()
	openLastRun()
	ctx, cancel := cluster.UntilDeadline(t)
	defer cancel()
	shared.once.Do(func() { shared.cluster, shared.err = cluster.New(ctx) })
	require.NoError(t, shared.err)
	require.NoError(t, reset(ctx, shared.cluster))
	return shared.cluster
}

func reset(ctx context.Context, c *cluster.Cluster) error {
	if err := c.StartAPIServer(ctx); err != nil {
		return err
	}
	if err := c.InstallCRDs(ctx, cluster.AWSProvider113); err != nil {
		return err
	}
	return c.RemoveObjects(ctx)
}

// buildProgram builds the program into a folder and returns the folder.
func buildProgram(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "convox"), "./cmd/convox")
	build.Dir = ".." // by the program's own requirements, as it is released
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTOOLCHAIN=auto", "GOWORK=off")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return dir
}
