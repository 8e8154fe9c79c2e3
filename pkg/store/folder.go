package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"rackparams/params"
	"rackparams/pkg/shape"

	"github.com/gofrs/flock"
	"gopkg.in/yaml.v3"
)

// Folder is a store in a settings folder.
type Folder struct {
	selection
	who string
}

// OpenFolder returns the store in the settings folder dir, which need not exist yet. What is changed is recorded as by who.
func OpenFolder(dir, who string) *Folder { return &Folder{selection{dir}, who} }

// lockTimeout is how long a change waits for another one to finish.
const lockTimeout = 30 * time.Second

// varsFile holds the stored parameters of a rack.
const varsFile = "vars.json"

// maxFileBytes is how long a file of a rack may be.
const maxFileBytes = 16 << 20

// Names returns the names of the racks, sorted.
func (s *Folder) Names() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "racks"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the racks: %w", err)
	}
	var names []string
	for _, entry := range entries {
		// A link is listed too: it cannot be followed, and its owner should know.
		if (entry.IsDir() || entry.Type() == fs.ModeSymlink) && CheckName(entry.Name()) == nil {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Rack reads a rack.
func (s *Folder) Rack(name string) (Rack, error) {
	folder, err := s.open(name)
	if err != nil {
		return Rack{}, err
	}
	defer folder.Close()
	return read(folder, name)
}

// Create makes a rack.
func (s *Folder) Create(rack Rack) error {
	name := rack.Name
	if err := CheckName(name); err != nil {
		return err
	}
	unlock, err := lock(s.dir, name)
	if err != nil {
		return err
	}
	defer unlock()
	racks := filepath.Join(s.dir, "racks")
	if err := os.MkdirAll(racks, 0o700); err != nil {
		return fmt.Errorf("making the racks' folder: %w", err)
	}
	path := filepath.Join(racks, name)
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("the rack %s is there already; choose another name, or delete it first with `rack delete`", name)
	}
	// The folder gets its name when it is whole, so that a rack is there or is not.
	unfinished := filepath.Join(racks, "."+name+".new")
	err = os.RemoveAll(unfinished)
	if err == nil {
		err = s.fill(unfinished, rack)
	}
	if err == nil {
		err = os.Rename(unfinished, path)
	}
	if err != nil {
		_ = os.RemoveAll(unfinished)
		return fmt.Errorf("making the rack's folder: %w", err)
	}
	return nil
}

func (s *Folder) fill(path string, rack Rack) error {
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	about := map[string]string{"provider": rack.Provider.String()}
	if rack.Terraform {
		about["terraform"] = "true"
	}
	if err := writeJSON(folder, "rack.json", about); err != nil {
		return err
	}
	return s.writeValues(folder, rack.Name, nil, rack.Stored())
}

// Overview reads a rack.
func (s *Folder) Overview(name string) (Rack, error) { return s.Rack(name) }

// Update changes the values of a rack under its lock.
func (s *Folder) Update(name string, change func(Rack) (map[string]string, error)) error {
	return s.locked(name, func(folder *os.Root) error {
		rack, err := read(folder, name)
		if err != nil {
			return err
		}
		values, err := change(rack)
		if err != nil {
			return err
		}
		return s.writeValues(folder, name, rack.Stored(), values)
	})
}

// History returns what changed a rack.
func (s *Folder) History(name string) ([]Entry, error) {
	folder, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	h, closing, err := s.openHistory(folder, name)
	if err != nil {
		return nil, err
	}
	defer closing()
	log, err := h.read()
	return log.entries(), err
}

// locked calls work with the folder of a rack, under its lock.
func (s *Folder) locked(name string, work func(folder *os.Root) error) error {
	// Looked for before, so that no lock is made for a rack that is not there; opened under the lock, so that it is not one
	// that somebody has just deleted.
	folder, err := s.open(name)
	if err != nil {
		return err
	}
	folder.Close()
	unlock, err := lock(s.dir, name)
	if err != nil {
		return err
	}
	defer unlock()
	if folder, err = s.open(name); err != nil {
		return err
	}
	defer folder.Close()
	return work(folder)
}

// Delete forgets a rack. Folders that Terraform works in are refused: they are all that is known of what it made.
func (s *Folder) Delete(name string) error {
	return s.locked(name, func(folder *os.Root) error { return s.remove(folder, name) })
}

func (s *Folder) remove(folder *os.Root, name string) error {
	for _, file := range []string{"main.tf", "terraform.tfstate", "terraform.tfstate.backup", ".terraform"} {
		if _, err := folder.Lstat(file); err == nil {
			return fmt.Errorf("the rack %s is Terraform's: its folder holds %s; uninstall the rack with the Convox CLI instead", name, file)
		}
	}
	if err := s.forget(name); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(s.dir, "racks", name))
}

// Switch makes a rack the current one.
func (s *Folder) Switch(name string) error {
	folder, err := s.open(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return s.choose(name)
}

// open opens the folder of a rack. Through it, no link leads out of the settings folder.
func (s *Folder) open(name string) (*os.Root, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	notFound := func() error {
		names, err := s.Names()
		if err != nil {
			return err
		}
		return &NotFoundError{Name: name, Known: names}
	}
	settings, err := os.OpenRoot(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound()
	}
	if err != nil {
		return nil, fmt.Errorf("opening the settings folder %s: %w", s.dir, cause(err))
	}
	defer settings.Close()
	folder, err := settings.OpenRoot(filepath.Join("racks", name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound()
	}
	if err != nil {
		return nil, fmt.Errorf("opening the rack %s in %s: %w", name, s.dir, cause(err))
	}
	return folder, nil
}

// lock waits for a lock and returns what lets it go. The lock's file is not in the rack's folder, where nothing but
// vars.json is ours.
func lock(dir, name string) (func(), error) {
	locks := filepath.Join(dir, "locks")
	if err := os.MkdirAll(locks, 0o700); err != nil {
		return nil, fmt.Errorf("making the locks' folder: %w", err)
	}
	path := filepath.Join(locks, name+".lock")
	lock := flock.New(path, flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	locked, err := lock.TryLockContext(ctx, 10*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) || err == nil && !locked {
		return nil, fmt.Errorf("the rack %s is being changed by another process, which has held %s for more than %s; try again", name, path, lockTimeout)
	}
	if err != nil {
		return nil, fmt.Errorf("locking the rack %s: %w", name, err)
	}
	return func() { _ = lock.Unlock() }, nil
}

// providerPattern finds the provider in the main.tf of the Convox CLI.
var providerPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^[ \t]*(?:module[^\n#]*\{[ \t]*)?source[ \t]*=[ \t]*"[^"\n]*/terraform/system/([a-z]+)`)
})

func read(folder *os.Root, name string) (Rack, error) {
	rack := Rack{Name: name}
	values, err := readStrings(folder, varsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return Rack{}, fmt.Errorf("%w; restore the file, or forget the rack with `rack delete`", err)
	}
	if err != nil {
		return Rack{}, err
	}
	provider, err := readProvider(folder, &rack)
	if err != nil {
		return Rack{}, err
	}
	rack.Rack, err = params.NewRack(provider, values)
	if err != nil {
		return Rack{}, fmt.Errorf("the rack %s: %w", name, err)
	}
	return rack, nil
}

// readProvider finds the rack's provider, and whether the folder is the Convox CLI's.
func readProvider(folder *os.Root, rack *Rack) (string, error) {
	main, err := readFile(folder, "main.tf")
	if err == nil {
		rack.Terraform, rack.InFolder = true, true
		if match := providerPattern().FindSubmatch(main); match != nil {
			return string(match[1]), nil
		}
		return "", fmt.Errorf("%s names no provider: it has no source with /terraform/system/", filepath.Join(folder.Name(), "main.tf"))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	about, err := readStrings(folder, "rack.json")
	if err != nil {
		return "", err
	}
	rack.Terraform = about["terraform"] == "true"
	return about["provider"], nil
}

func readFile(folder *os.Root, name string) ([]byte, error) {
	path := filepath.Join(folder.Name(), name)
	info, err := folder.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading %s: it is not a file", path)
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("reading %s: it has %d bytes, %d at most are read", path, info.Size(), maxFileBytes)
	}
	data, err := folder.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, cause(err))
	}
	return data, nil
}

// cause strips the operation and the path, which the messages here give themselves.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	// The error of os.Root has no name to ask for.
	if strings.Contains(err.Error(), "path escapes") {
		return errors.New("a symbolic link leads out of the settings folder, and is not followed; put the folder or file itself there")
	}
	return err
}

// readStrings reads a file that holds one flat JSON object of strings.
func readStrings(folder *os.Root, name string) (map[string]string, error) {
	data, err := readFile(folder, name)
	if err != nil {
		return nil, err
	}
	damaged := func(format string, args ...any) error {
		return fmt.Errorf("%s is damaged: %s; it is left as it is, mend it or restore it", filepath.Join(folder.Name(), name), fmt.Sprintf(format, args...))
	}
	node, err := shape.ParseJSON(data)
	if err != nil {
		return nil, damaged("%s", err)
	}
	if node.Kind != yaml.MappingNode {
		return nil, damaged("it holds %s where an object belongs", shape.Describe(node))
	}
	values := map[string]string{}
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if value.ShortTag() != "!!str" || value.Kind != yaml.ScalarNode {
			return nil, damaged("the value of %s at line %d, column %d is not a string", shape.Quote(key.Value), value.Line, value.Column)
		}
		values[key.Value] = value.Value
	}
	return values, nil
}

// writeValues replaces the values of a rack, the old ones by the new ones, and records it.
func (s *Folder) writeValues(folder *os.Root, name string, old, new map[string]string) error {
	if new == nil {
		new = map[string]string{} // an empty object, and not null
	}
	data, err := marshal(new)
	if err != nil {
		return err
	}
	// What cannot be recorded is not changed. The other way round, a change could go unrecorded.
	if entry := newEntry(s.who, old, new); len(entry.Changes) > 0 || entry.Action == ActionCreate {
		h, closing, err := s.openHistory(folder, name)
		if err != nil {
			return err
		}
		defer closing()
		if err := h.record(entry, data); err != nil {
			return err
		}
	}
	return writeFile(folder, varsFile, data)
}

// writeJSON replaces a file of the folder by v in JSON: as a whole, and safely on the disk when it returns.
func writeJSON(folder *os.Root, name string, v any) error {
	data, err := marshal(v)
	if err != nil {
		return err
	}
	return writeFile(folder, name, data)
}

func marshal(v any) ([]byte, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return data.Bytes(), err
}

func writeFile(folder *os.Root, name string, data []byte) error {
	if err := replace(folder, name, data); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(folder.Name(), name), cause(err))
	}
	return nil
}
