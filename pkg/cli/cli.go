// Package cli is the command line: one file per command, each with the flags, one call down into the libraries, and the
// output. No rule of the domain is here.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"rackparams/params"
	"rackparams/pkg/kube"
	"rackparams/pkg/store"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// version is the program's version, which the build sets.
var version = "dev"

// Streams are the standard streams of a run.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// The exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// Run runs the program with its arguments, the name it was started with first, and returns the exit status.
func Run(args []string, streams Streams) int {
	a := &app{Streams: streams, name: programName(args)}
	args = args[min(1, len(args)):]
	root := newRoot(a, args)
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	command, err := root.ExecuteC()
	if err == nil {
		return exitDone
	}
	var failed *failure
	if errors.As(err, &failed) {
		a.printError(failed.err)
		return exitFailed
	}
	// Everything else is cobra's, or a check of the arguments: wrong usage.
	a.printError(err)
	fmt.Fprintf(a.Err, "  see `%s --help`\n", command.CommandPath())
	return exitUsage
}

// programName is the name that help and messages call the program by.
func programName(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return "convox"
	}
	return strings.TrimSuffix(filepath.Base(args[0]), ".exe")
}

// app is what the commands share.
type app struct {
	Streams
	name string
	rack string // the flag --rack
	// access is how a cluster is reached, by the flags --kubeconfig and --context.
	access kube.Access
	// canForce is set by commands that have the flag --force.
	canForce bool
}

// failure is an error of a command's work, as opposed to one of its usage.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// errSilent fails a command that has said all there is to say.
var errSilent = errors.New("")

// run makes a command's work a cobra function, whose errors exit with 1.
func run(work func(args []string) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		if err := work(args); err != nil {
			return &failure{err}
		}
		return nil
	}
}

// cluster returns the client of the cluster that a command is about.
func (a *app) cluster() (*kube.Client, error) { return a.clusterAt(a.access.Context) }

// clusterAt returns the client of the cluster of a context of the kubeconfig.
func (a *app) clusterAt(context string) (*kube.Client, error) {
	access := a.access
	access.Context = context
	access.RackURL = os.Getenv("RACK_URL")
	access.UserAgent = kube.FieldManager + "/" + version
	access.Warn = func(message string) { a.warn(message) }
	return kube.Open(access)
}

// errNoRack says that a command is about no rack.
var errNoRack = errors.New("no rack is named")

// rackName is the rack that a command is about: --rack, else CONVOX_RACK, else the current one.
func (a *app) rackName(s store.Store) (string, error) {
	if a.rack != "" {
		return a.rack, nil
	}
	if name := os.Getenv("CONVOX_RACK"); name != "" {
		return name, nil
	}
	name, err := s.Current()
	if err == nil && name == "" {
		err = fmt.Errorf("%w; give one with --rack or CONVOX_RACK, or choose one with `switch`", errNoRack)
	}
	return name, err
}

// loadRack reads the rack that a command is about.
func (a *app) loadRack() (store.Rack, error) {
	s, err := a.store()
	if err != nil {
		return store.Rack{}, err
	}
	name, err := a.rackName(s)
	if err != nil {
		return store.Rack{}, err
	}
	return s.Rack(name)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// releaseFlag is the flag --release, empty while it is not given.
type releaseFlag struct{ params.Release }

func (f *releaseFlag) String() string { return string(f.Release) }
func (f *releaseFlag) Type() string   { return "X.Y.Z" }

// Set takes the value of the flag.
func (f *releaseFlag) Set(text string) (err error) {
	f.Release, err = params.ParseRelease(text)
	return err
}

// providerFlag is the flag --provider, empty while it is not given.
type providerFlag struct{ name string }

func (f *providerFlag) String() string { return f.name }
func (f *providerFlag) Type() string   { return "PROVIDER" }

// Set takes the value of the flag.
func (f *providerFlag) Set(text string) error {
	f.name = text
	_, err := params.ParseProvider(text)
	return err
}
