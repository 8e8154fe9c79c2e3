package conformance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// moduleFile reads a file of a module at a version, such as "sigs.k8s.io/karpenter@v1.13.0", from the module cache, where
// the go command puts it if it is not there. It is for the versions that this module cannot require, since it requires
// another one.
func moduleFile(module, path string) ([]byte, error) {
	dir, err := moduleDir(module)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
}

// moduleDir returns the directory of a module's source in the module cache.
func moduleDir(module string) (string, error) {
	// Away from this module, whose requirements would otherwise have a say.
	elsewhere, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(elsewhere)
	download := exec.Command("go", "mod", "download", "-json", module)
	download.Dir = elsewhere
	download.Env = append(os.Environ(), "GOTOOLCHAIN=auto", "GOWORK=off", "GOFLAGS=")
	output, runErr := download.Output()
	var result struct{ Dir, Error string }
	if err := json.Unmarshal(output, &result); err != nil {
		return "", fmt.Errorf("downloading %s: %w: %s", module, runErr, output)
	}
	if result.Error != "" || runErr != nil {
		return "", fmt.Errorf("downloading %s: %s %w", module, result.Error, runErr)
	}
	return result.Dir, nil
}
