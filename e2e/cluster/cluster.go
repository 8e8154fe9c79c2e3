// Package cluster runs a Kubernetes API server with its etcd on the loopback address, for tests.
//
// There are no nodes and no controllers: objects are validated, stored, watched and authorized as in any cluster, and
// nothing acts on them. Both servers are built from source, once for each version, into the folder .cache of the module.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Cluster is an API server with its data. Its methods are not safe for use by several goroutines, apart from those of the
// clients.
type Cluster struct {
	dir             string
	binaries        struct{ apiServer, etcd string }
	etcdPort, port  int
	tokens          map[string]string // by user
	etcd, apiServer *process
	certificate     []byte // what the API server's certificate is checked against
	http            *http.Client
	installed       CRDs
}

// startTimeout is how long a server may take until it serves. On an idle machine it takes some seconds.
const startTimeout = 2 * time.Minute

// Start starts a cluster that ends with the test.
func Start(t testing.TB) *Cluster {
	t.Helper()
	ctx, cancel := UntilDeadline(t)
	defer cancel()
	c, err := New(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// UntilDeadline is a context that ends shortly before the test has to, so that there is time to say why and to clean up.
func UntilDeadline(t testing.TB) (context.Context, context.CancelFunc) {
	if test, ok := t.(*testing.T); ok {
		if deadline, ok := test.Deadline(); ok {
			return context.WithDeadline(t.Context(), deadline.Add(-stopTimeout))
		}
	}
	return context.WithCancel(t.Context())
}

// New starts a cluster. It lives until Close.
func New(ctx context.Context) (*Cluster, error) {
	c := &Cluster{}
	if err := c.start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) (err error) {
	if c.binaries.etcd, err = etcd.binary(ctx); err != nil {
		return err
	}
	if c.binaries.apiServer, err = kubeAPIServer.binary(ctx); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	if err := c.startEtcd(); err != nil {
		return err
	}
	return c.StartAPIServer(ctx)
}

// prepare makes the folder with what the servers read.
func (c *Cluster) prepare() (err error) {
	if c.dir, err = os.MkdirTemp("", "e2e-cluster"); err != nil {
		return err
	}
	if c.etcdPort, err = freePort(); err != nil {
		return err
	}
	if c.port, err = freePort(); err != nil {
		return err
	}
	if err := writeServiceAccountKey(c.path("service-account.key")); err != nil {
		return err
	}
	c.tokens = newTokens()
	return os.WriteFile(c.path("tokens.csv"), tokenFile(c.tokens), 0o600)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) startEtcd() (err error) {
	url := fmt.Sprintf("http://127.0.0.1:%d", c.etcdPort)
	c.etcd, err = startProcess(c.path("etcd.log"), c.binaries.etcd,
		"--data-dir="+c.path("etcd"),
		"--listen-client-urls="+url,
		"--advertise-client-urls="+url,
		"--listen-peer-urls=http://127.0.0.1:0", // it is alone
		"--unsafe-no-fsync",                     // its data need not survive the machine
		"--log-level=warn",
	)
	return err
}

// URL is where the API server serves. It stays the same when the API server is started again.
func (c *Cluster) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

// StartAPIServer starts the API server, again after StopAPIServer or KillAPIServer with the same address and data, and
// returns when it is ready.
func (c *Cluster) StartAPIServer(ctx context.Context) (err error) {
	if c.Running() {
		return nil
	}
	c.apiServer, err = startProcess(c.path("kube-apiserver.log"), c.binaries.apiServer, c.apiServerFlags()...)
	if err != nil {
		return err
	}
	if err := c.waitUntilReady(ctx); err != nil {
		err = fmt.Errorf("%w\n%s\n%s", err, c.apiServer.logTail(), c.etcd.logTail())
		c.apiServer.kill()
		return err
	}
	return nil
}

const serviceAccountIssuer = "https://kubernetes.default.svc"

// apiServerFlags turn off what has no part in storing objects and checking who may.
func (c *Cluster) apiServerFlags() []string {
	return []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", c.etcdPort),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.port),
		"--cert-dir=" + c.path("certificates"), // it makes its own there
		"--service-account-issuer=" + serviceAccountIssuer,
		"--service-account-key-file=" + c.path("service-account.key"),
		"--service-account-signing-key-file=" + c.path("service-account.key"),
		"--service-cluster-ip-range=10.0.0.0/24",
		"--authorization-mode=RBAC",
		"--token-auth-file=" + c.path("tokens.csv"),
		// Service accounts come from a controller, and without them this plugin would refuse every pod.
		"--disable-admission-plugins=ServiceAccount,DefaultStorageClass,StorageObjectInUseProtection,PersistentVolumeClaimResize,RuntimeClass,TaintNodesByCondition",
		"--enable-priority-and-fairness=false",
		"--endpoint-reconciler-type=none", // nobody reaches this server by a service
		"--profiling=false",
	}
}

func (c *Cluster) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return until(ctx, "the API server is ready", func() error {
		if !c.etcd.running() || !c.apiServer.running() {
			return errGivenUp{errors.New("it has ended")}
		}
		if err := c.trustCertificate(); err != nil {
			return err
		}
		_, err := c.As(Admin).do(ctx, request{path: "/readyz"})
		return err
	})
}

// Running reports whether the API server runs.
func (c *Cluster) Running() bool { return c.apiServer.running() }

// StopAPIServer ends the API server as a shutdown does. The data stay.
func (c *Cluster) StopAPIServer() {
	c.apiServer.stop()
	c.http.CloseIdleConnections()
}

// KillAPIServer ends the API server as a crash does, in the midst of whatever it is doing. The data stay.
func (c *Cluster) KillAPIServer() {
	c.apiServer.kill()
	c.http.CloseIdleConnections()
}

// Close ends the cluster and removes its data.
func (c *Cluster) Close() {
	// Nothing is lost that anybody wants, and a shutdown would wait for open requests.
	c.apiServer.kill()
	c.etcd.kill()
	_ = os.RemoveAll(c.dir)
}

// PollInterval is the pause between two looks at something that is awaited.
const PollInterval = 50 * time.Millisecond

// errGivenUp says that what is awaited can no longer come.
type errGivenUp struct{ error }

// until calls check until it returns nil, and fails when the context ends or the check gives up.
func until(ctx context.Context, what string, check func() error) error {
	ticker := time.NewTicker(PollInterval)
	defer ticker.Stop()
	for {
		err := check()
		var givenUp errGivenUp
		switch {
		case err == nil:
			return nil
		case errors.As(err, &givenUp):
			return fmt.Errorf("waiting until %s: %w", what, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w, last: %w", what, ctx.Err(), err)
		case <-ticker.C:
		}
	}
}
