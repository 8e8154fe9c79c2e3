package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rackparams/params"
	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
	"rackparams/render"

	"github.com/spf13/cobra"
)

// sources are where the NodePools of a command come from: files, folders and stdin, or else the rack.
type sources struct {
	*app
	args    []string
	pools   []string
	version versionFlag
	// seen are the names of the pools that were read, chosen or not.
	seen []string
}

// addSources gives a command that reads NodePools its arguments and flags.
func addSources(a *app, cmd *cobra.Command) *sources {
	s := &sources{app: a}
	addKarpenterVersion(cmd, &s.version, "the rack's, or the newest for files")
	return s
}

// addPool gives a command the flag --pool.
func (a *app) addPool(cmd *cobra.Command, pools *[]string) {
	cmd.Flags().StringArrayVar(pools, "pool", nil, "only the pool `NAME`; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("pool", a.completePools)
}

// addKarpenterVersion gives a command the flag --karpenter-version.
func addKarpenterVersion(cmd *cobra.Command, version *versionFlag, otherwise string) {
	cmd.Flags().Var(version, "karpenter-version", "the rules of this version of Karpenter (default "+otherwise+")")
	_ = cmd.RegisterFlagCompletionFunc("karpenter-version", cobra.FixedCompletions(nodepool.Versions(), noFiles))
}

// versionFlag is the flag --karpenter-version, 0 while it is not given.
type versionFlag struct{ nodepool.Version }

func (f *versionFlag) Type() string { return "1.N" }

func (f *versionFlag) String() string {
	if f.Version == 0 {
		return ""
	}
	return f.Version.String()
}

// orNewest is the version, or the newest where none is given.
func (f *versionFlag) orNewest() nodepool.Version {
	if f.Version == 0 {
		return nodepool.Newest
	}
	return f.Version
}

// Set takes the value of the flag.
func (f *versionFlag) Set(text string) (err error) {
	f.Version, err = nodepool.ParseVersion(text)
	return err
}

// check checks the arguments before any work.
func (s *sources) check(_ *cobra.Command, args []string) error {
	if len(args) > 0 && s.rack != "" {
		return errors.New("give files or --rack, not both")
	}
	if slices.Contains(args, "") {
		return errors.New(`"" is no file; write - for stdin`)
	}
	s.args = args
	return nil
}

// manifests reads the NodePools. What cannot be read is an error of one file or document, and the rest follows.
func (s *sources) manifests() iter.Seq2[*nodepool.Manifest, error] {
	return func(yield func(*nodepool.Manifest, error) bool) {
		if len(s.args) == 0 {
			text, name, err := s.rendered()
			if err != nil {
				yield(nil, err)
				return
			}
			s.read(bytes.NewReader(text), name, yield)
			return
		}
		for _, arg := range s.args {
			if !s.readPath(arg, yield) {
				return
			}
		}
	}
}

// rendered is what the rack renders, and its name.
func (s *sources) rendered() ([]byte, string, error) {
	rack, err := s.loadRack()
	if err != nil {
		if errors.Is(err, errNoRack) {
			err = fmt.Errorf("%w; or name files, or - for stdin", err)
		}
		return nil, "", err
	}
	if s.version.Version == 0 {
		s.version.Version = rack.Release.Karpenter()
	}
	pools, err := s.nodePools(rack.Rack, nil)
	if err != nil {
		return nil, "", err
	}
	var text bytes.Buffer
	err = render.YAML(&text, pools)
	return text.Bytes(), rack.Name, err
}

// karpenter is the version whose rules hold. It is known once the first NodePool is read.
func (s *sources) karpenter() nodepool.Version { return s.version.orNewest() }

// readPath reads a file, the manifests below a folder, or stdin.
func (s *sources) readPath(path string, yield func(*nodepool.Manifest, error) bool) bool {
	if path == "-" {
		return s.read(s.In, "stdin", yield)
	}
	info, err := os.Stat(path)
	if err != nil {
		return yield(nil, fmt.Errorf("reading %s: %w", shape.Quote(path), cause(err)))
	}
	if !info.IsDir() {
		return s.readFile(path, yield)
	}
	// The folder itself may be a link, and so may the files in it, as they are in a mounted ConfigMap.
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return yield(nil, fmt.Errorf("reading %s: %w", shape.Quote(path), cause(err)))
	}
	more := true
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			more = yield(nil, fmt.Errorf("reading %s: %w", shape.Quote(path), cause(err)))
		case !entry.IsDir() && isManifestName(path) && isRegular(path):
			more = s.readFile(path, yield)
		}
		if !more {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return yield(nil, err)
	}
	return more
}

// isRegular reports whether a path leads to a file, and not to a pipe or a device.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isManifestName(path string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(path)))
}

func (s *sources) readFile(path string, yield func(*nodepool.Manifest, error) bool) bool {
	file, err := openFile(path)
	if err != nil {
		return yield(nil, err)
	}
	defer file.Close()
	return s.read(file, path, yield)
}

func (s *sources) read(r io.Reader, name string, yield func(*nodepool.Manifest, error) bool) bool {
	for manifest, err := range nodepool.Manifests(r, name) {
		var readError *nodepool.ReadError
		if err != nil && !errors.As(err, &readError) {
			err = fmt.Errorf("reading %s: %w", name, cause(err))
		}
		if manifest != nil && len(s.pools) > 0 {
			s.seen = append(s.seen, manifest.Name)
			if !slices.Contains(s.pools, manifest.Name) {
				continue
			}
		}
		if !yield(manifest, err) {
			return false
		}
	}
	return true
}

// missing is an error that names the pools of --pool that were not found.
func (s *sources) missing() error {
	return missingPools(s.pools, s.seen, "there is no pool %s here; the pools are %s")
}

// missingPools are the problems of names that are not among the known ones.
func missingPools(names, known []string, format string) error {
	var problems params.Problems
	for _, name := range names {
		if !slices.Contains(known, name) {
			problems = append(problems, params.Problem{Text: fmt.Sprintf(format, shape.Quote(name), shape.Shorten(strings.Join(known, ", ")))})
		}
	}
	if problems == nil {
		return nil
	}
	return problems
}

// warnNotServed warns of a NodePool that Karpenter does not read.
func (a *app) warnNotServed(m *nodepool.Manifest) {
	a.warn(escape(m.Name) + ": Karpenter serves no NodePools at its API version; `nodepool lint` says more")
}

// each calls work with each NodePool, and prints the errors of what cannot be read.
func (s *sources) each(work func(*nodepool.Manifest) error) error {
	failed, count := false, 0
	for manifest, err := range s.manifests() {
		if err != nil {
			s.printError(err)
			failed = true
			continue
		}
		count++
		if !manifest.Served() {
			s.warnNotServed(manifest)
		}
		if err := work(manifest); err != nil {
			return err
		}
	}
	if err := s.missing(); err != nil {
		s.printError(err)
		failed = true
	}
	if count == 0 && !failed && len(s.args) > 0 {
		s.notice("there is no NodePool in %s", strings.Join(s.args, ", "))
	}
	if failed {
		return errSilent
	}
	return nil
}
