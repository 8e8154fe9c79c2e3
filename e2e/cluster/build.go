package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/gofrs/flock"
)

// server is a program of the control plane that is built from the source of a module.
type server struct {
	name, module, pkg string
	// versionVariable is what the linker sets to the module's version. Without it the API server would give itself out as
	// a version that no release has.
	versionVariable string
}

var (
	kubeAPIServer = server{"kube-apiserver", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver", "k8s.io/component-base/version.gitVersion"}
	etcd          = server{"etcd", "go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/server/v3", ""}
)

// cacheFolder is where the servers are kept, in the module's folder.
const cacheFolder = ".cache"

// binary returns the path of the server's executable, and builds it if this version has not been built before.
func (s server) binary(ctx context.Context) (string, error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return "", err
	}
	version, err := moduleVersion(ctx, root, s.module)
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, cacheFolder, fmt.Sprintf("%s-%s-%s-%s", s.name, version, runtime.GOOS, runtime.GOARCH))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	// Tests that run at the same time build it once.
	lock := flock.New(path + ".lock")
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("waiting for another build of %s: %w", s.name, err)
	}
	defer lock.Unlock()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	return path, s.build(ctx, root, version, path)
}

// build builds the executable beside its path and moves it there, so that what stands there is always whole.
func (s server) build(ctx context.Context, root, version, path string) error {
	flags := "-s -w"
	if s.versionVariable != "" {
		flags += " -X " + s.versionVariable + "=" + version
	}
	started := time.Now()
	fmt.Fprintf(os.Stderr, "building %s %s, once; this takes some minutes\n", s.name, version)
	part := path + ".part"
	if _, err := goCommand(ctx, root, []string{"CGO_ENABLED=0"}, "build", "-trimpath", "-ldflags", flags, "-o", part, s.pkg); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("building %s took longer than the tests may; run them again, since the go command goes on where it was, or with -timeout 30m: %w", s.name, err)
		}
		return err
	}
	fmt.Fprintf(os.Stderr, "built %s in %s\n", s.name, time.Since(started).Round(time.Second))
	return os.Rename(part, path)
}
