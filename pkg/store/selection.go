package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// selection is which rack is the current one, kept in a folder.
type selection struct{ dir string }

// current is the file current, in the Convox CLI's own form.
type current struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Current returns the name of the current rack, or "" where none was chosen.
func (s selection) Current() (string, error) {
	path := filepath.Join(s.dir, "current")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the current rack: %w", err)
	}
	var c current
	if json.Unmarshal(data, &c) != nil || CheckName(c.Name) != nil {
		return "", fmt.Errorf("%s is damaged; choose a rack again with `switch`", path)
	}
	return c.Name, nil
}

// choose makes a rack the current one.
func (s selection) choose(name string) error {
	unlock, err := lock(s.dir, ".current")
	if err != nil {
		return err
	}
	defer unlock()
	settings, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer settings.Close()
	return writeJSON(settings, "current", current{Name: name, Type: "terraform"})
}

// forget leaves no rack the current one, if it is this one.
func (s selection) forget(name string) error {
	if current, err := s.Current(); err != nil || current != name {
		return nil // a damaged file names no rack
	}
	return os.Remove(filepath.Join(s.dir, "current"))
}
