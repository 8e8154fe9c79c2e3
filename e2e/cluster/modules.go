package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// goCommand runs the go command in a folder and returns what it prints. On failure the error has what it said.
func goCommand(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=auto", "GOWORK=off")
	cmd.Env = append(cmd.Env, env...)
	diesWithParent(cmd)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := onLastingThread(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return stdout.Bytes(), fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.Bytes(), nil
}

// moduleRoot returns the folder of the module that the test belongs to, which requires Kubernetes and etcd.
func moduleRoot(ctx context.Context) (string, error) {
	output, err := goCommand(ctx, "", nil, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(output))), nil
}

// moduleVersion returns the version in which a module is required.
func moduleVersion(ctx context.Context, root, module string) (string, error) {
	output, err := goCommand(ctx, root, nil, "list", "-m", "-f", "{{.Version}}", module)
	return strings.TrimSpace(string(output)), err
}

// moduleFile reads a file of a module at a version, such as "sigs.k8s.io/karpenter@v1.13.0", from the module cache, where
// the go command puts it if it is not there. The module need not be required, so that several versions can be read.
func moduleFile(ctx context.Context, module, path string) ([]byte, error) {
	// Away from this module, whose requirements would otherwise have a say.
	elsewhere, err := os.MkdirTemp("", "e2e-module")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(elsewhere)
	output, err := goCommand(ctx, elsewhere, []string{"GOFLAGS="}, "mod", "download", "-json", module)
	var result struct{ Dir, Error string }
	if json.Unmarshal(output, &result) == nil && result.Error != "" {
		return nil, fmt.Errorf("downloading %s: %s", module, result.Error)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(result.Dir, filepath.FromSlash(path)))
}
