package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"rackparams/pkg/shape"
	"rackparams/pkg/store"
)

// store opens the store that the commands work on: the one of CONVOX_STORE, else the settings folder.
func (a *app) store() (store.Store, error) {
	s, err := a.storeAt(os.Getenv("CONVOX_STORE"))
	if err != nil {
		return nil, fmt.Errorf("CONVOX_STORE: %w", err)
	}
	return s, nil
}

// The schemes of the places where racks are kept.
const (
	fileScheme = "file://"
	kubeScheme = "kube://"
)

// storeAt opens the store at a place: a namespace of a cluster, a settings folder, or where none is given the user's own.
func (a *app) storeAt(place string) (store.Store, error) {
	settings, err := settingsDir()
	if err != nil {
		return nil, err
	}
	if dir, isFile := strings.CutPrefix(place, fileScheme); isFile || place == "" {
		// On Windows a drive stands behind the slash.
		if drive := strings.TrimPrefix(dir, "/"); filepath.VolumeName(drive) != "" {
			dir = drive
		}
		if dir != "" && (!filepath.IsAbs(dir) || filepath.Dir(dir) == filepath.Clean(dir)) {
			return nil, fmt.Errorf("%s is no settings folder; write file:///FOLDER with the whole path", shape.Quote(place))
		}
		return store.OpenFolder(cmp.Or(dir, settings), whoami()), nil
	}
	rest, isKube := strings.CutPrefix(place, kubeScheme)
	// The names of contexts may have slashes, as those of EKS do.
	slash := strings.LastIndexByte(rest, '/')
	context, namespace := rest[:max(slash, 0)], rest[slash+1:]
	if !isKube || store.CheckNamespace(namespace) != nil || slash == 0 {
		return nil, fmt.Errorf("%s is no place where racks are kept; write kube://NAMESPACE, kube://CONTEXT/NAMESPACE or file:///FOLDER", shape.Quote(place))
	}
	client, err := a.clusterAt(cmp.Or(context, a.access.Context))
	if err != nil {
		return nil, err
	}
	// Which rack is the current one is one person's, and another one in each store.
	digest := sha256.Sum256([]byte(client.Host() + "/" + namespace))
	return store.InCluster(client, namespace, filepath.Join(settings, "stores", hex.EncodeToString(digest[:8])), whoami()), nil
}

// settingsDir is the settings folder.
func settingsDir() (string, error) {
	if dir := os.Getenv("CONVOX_CONFIG"); dir != "" {
		return dir, nil
	}
	config, err := configDir()
	return filepath.Join(config, "convox"), err
}

// configDir is the user's XDG configuration folder, on every system: the Convox CLI keeps its settings there too.
func configDir() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the settings folder: %w; set CONVOX_CONFIG to one", err)
	}
	return filepath.Join(home, ".config"), nil
}

// whoami is the user of this machine, for the history of a rack.
func whoami() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}
