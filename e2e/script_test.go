package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackparams/e2e/cluster"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the transcripts, one after the other, on the cluster that all tests share. Each finds it without any
// NodePool, has a namespace and a settings folder of its own, and a kubeconfig whose contexts are the users.
func TestScripts(t *testing.T) {
	c := sharedCluster(t)
	bin := buildProgram(t)
	testscript.RunT(inTurn{t}, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               func(env *testscript.Env) error { return setUp(env, c, bin) },
		Cmds:                commands,
	})
}

// The keys of the values that commands find in their script.
type (
	clusterKey struct{}
	cleanupKey struct{}
)

func setUp(env *testscript.Env, c *cluster.Cluster, bin string) error {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	if err := reset(ctx, c); err != nil {
		return err
	}
	namespace := strings.ReplaceAll(filepath.Base(env.WorkDir), "_", "-") // script-NAME
	if _, _, err := c.As(cluster.Admin).Apply(ctx, namespaceObject(namespace), "", cluster.ApplyOptions{}); err != nil {
		return err
	}
	kubeconfig := filepath.Join(env.WorkDir, "kubeconfig")
	if err := c.WriteKubeconfig(kubeconfig, namespace); err != nil {
		return err
	}
	env.Setenv("NAMESPACE", namespace)
	env.Setenv("KUBECONFIG", kubeconfig)
	env.Setenv("CONVOX_CONFIG", filepath.Join(env.WorkDir, "settings"))
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Values[clusterKey{}] = c
	cleanup := &applied{}
	env.Values[cleanupKey{}] = cleanup
	env.Defer(func() { cleanup.remove(env.T(), c) })
	return nil
}

func namespaceObject(name string) cluster.Object {
	return cluster.Object{"apiVersion": "v1", "kind": "Namespace", "metadata": cluster.Object{"name": name}}
}

// inTurn is a test whose scripts do not run at the same time: they share a cluster, and some stop it.
type inTurn struct{ *testing.T }

func (inTurn) Parallel() {}

func (t inTurn) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(inTurn{t}) })
}

func (inTurn) Verbose() bool { return testing.Verbose() }
