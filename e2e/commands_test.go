package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"time"

	"rackparams/e2e/cluster"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"
)

// commandTimeout bounds what a command of a script may take. Starting the API server takes longest.
const commandTimeout = 3 * time.Minute

// commands are what scripts can do besides running programs. They act as Admin. Where the API server refuses, it says so
// on stderr, and the command fails, as "! apply FILE" expects.
//
//	apply [-manager M] [-force] [-subresource S] FILE
//	                        applies the objects of a YAML file by server-side apply, warnings on stderr
//	kcreate [-validation Strict|Warn|Ignore] FILE
//	                        creates the objects of a YAML file, warnings on stderr
//	kept FILE               checks that the API server has the objects of the file just as they are there
//	kget [-o yaml|json] [-managed-fields] RESOURCE NAME
//	                        prints an object; a namespaced one is that of $NAMESPACE
//	kdelete RESOURCE NAME   deletes an object
//	crds SET                installs the CRDs of another version, which deletes all NodePools
//	apiserver stop|start|kill
//	rackproxy [-tls]        starts a rack's API in front of the cluster, and sets ADMIN_URL and VIEWER_URL
//	exits STATUS PROGRAM [ARG]...
//	                        runs a program and checks its exit status
//
// FILE is a file, or stdout for what was last printed.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"apply":     onCluster(apply),
	"kcreate":   onCluster(kcreate),
	"kept":      onCluster(kept),
	"kget":      onCluster(kget),
	"kdelete":   onCluster(kdelete),
	"crds":      onCluster(crds),
	"apiserver": onCluster(apiServer),
	"rackproxy": onCluster(rackProxy),
	"exits":     exits,
}

// errUsage says that the script is wrong, which no "!" excuses.
type errUsage string

func (e errUsage) Error() string { return "usage: " + string(e) }

// onCluster makes a command of a function that fails where the command does.
func onCluster(do func(ctx context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
		defer cancel()
		err := do(ctx, ts, ts.Value(clusterKey{}).(*cluster.Cluster), args)
		var usage errUsage
		switch {
		case errors.As(err, &usage), err != nil && !neg:
			ts.Fatalf("%v", err)
		case err != nil:
			fmt.Fprintf(ts.Stderr(), "%v\n", err)
		case neg:
			ts.Fatalf("unexpected success")
		}
	}
}

// parseFlags reads the flags and returns the other arguments, of which there must be as many as said.
func parseFlags(usage string, arguments int, args []string, define func(*flag.FlagSet)) ([]string, error) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	define(flags)
	if err := flags.Parse(args); err != nil || flags.NArg() != arguments {
		return nil, errUsage(usage)
	}
	return flags.Args(), nil
}

func noFlags(*flag.FlagSet) {}

func readObjects(ts *testscript.TestScript, file string) ([]cluster.Object, error) {
	objects, err := cluster.Objects([]byte(ts.ReadFile(file)))
	if err == nil && len(objects) == 0 {
		err = errUsage("there is no object in " + file)
	}
	return objects, err
}

func apply(ctx context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error {
	var options cluster.ApplyOptions
	args, err := parseFlags("apply [-manager M] [-force] [-subresource S] FILE", 1, args, func(flags *flag.FlagSet) {
		flags.StringVar(&options.Manager, "manager", "", "")
		flags.BoolVar(&options.Force, "force", false, "")
		flags.StringVar(&options.Subresource, "subresource", "", "")
	})
	if err != nil {
		return err
	}
	return sendAll(ts, args[0], "applied", func(object cluster.Object) (cluster.Object, []string, error) {
		return c.As(cluster.Admin).Apply(ctx, object, ts.Getenv("NAMESPACE"), options)
	})
}

func kcreate(ctx context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error {
	var validation string
	args, err := parseFlags("kcreate [-validation Strict|Warn|Ignore] FILE", 1, args, func(flags *flag.FlagSet) {
		flags.StringVar(&validation, "validation", string(cluster.Strict), "")
	})
	if err != nil {
		return err
	}
	return sendAll(ts, args[0], "created", func(object cluster.Object) (cluster.Object, []string, error) {
		return c.As(cluster.Admin).Create(ctx, object, ts.Getenv("NAMESPACE"), cluster.Validation(validation))
	})
}

// sendAll sends each object of a file and says what became of it.
func sendAll(ts *testscript.TestScript, file, done string, send func(cluster.Object) (cluster.Object, []string, error)) error {
	objects, err := readObjects(ts, file)
	if err != nil {
		return err
	}
	var errs []error
	for _, object := range objects {
		stored, warnings, err := send(object)
		for _, warning := range warnings {
			fmt.Fprintf(ts.Stderr(), "Warning: %s\n", warning)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", describe(object), err))
			continue
		}
		ts.Value(cleanupKey{}).(*applied).add(stored)
		fmt.Fprintf(ts.Stdout(), "%s %s\n", describe(object), done)
	}
	return errors.Join(errs...)
}

// describe names an object for a person.
func describe(object cluster.Object) string {
	metadata, _ := object["metadata"].(cluster.Object)
	return fmt.Sprintf("%v/%v", object["kind"], metadata["name"])
}

func kept(ctx context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error {
	args, err := parseFlags("kept FILE", 1, args, noFlags)
	if err != nil {
		return err
	}
	objects, err := readObjects(ts, args[0])
	if err != nil {
		return err
	}
	var errs []error
	for _, object := range objects {
		stored, err := c.As(cluster.Admin).Find(ctx, object, ts.Getenv("NAMESPACE"))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, difference := range cluster.Differences(object, stored) {
			errs = append(errs, fmt.Errorf("%s: %s", describe(object), difference))
		}
	}
	return errors.Join(errs...)
}

func kget(ctx context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error {
	var format string
	var managedFields bool
	const usage = "kget [-o yaml|json] [-managed-fields] RESOURCE NAME"
	args, err := parseFlags(usage, 2, args, func(flags *flag.FlagSet) {
		flags.StringVar(&format, "o", "yaml", "")
		flags.BoolVar(&managedFields, "managed-fields", false, "")
	})
	if err != nil {
		return err
	}
	object, err := c.As(cluster.Admin).Get(ctx, args[0], ts.Getenv("NAMESPACE"), args[1])
	if err != nil {
		return err
	}
	if metadata, ok := object["metadata"].(cluster.Object); ok && !managedFields {
		delete(metadata, "managedFields")
	}
	var text []byte
	switch format {
	case "yaml":
		text, err = yaml.Marshal(object)
	case "json":
		text, err = json.MarshalIndent(object, "", "  ")
		text = append(text, '\n')
	default:
		err = errUsage(usage)
	}
	if err != nil {
		return err
	}
	_, err = ts.Stdout().Write(text)
	return err
}

func kdelete(ctx context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error {
	args, err := parseFlags("kdelete RESOURCE NAME", 2, args, noFlags)
	if err != nil {
		return err
	}
	return c.As(cluster.Admin).Delete(ctx, args[0], ts.Getenv("NAMESPACE"), args[1])
}

func crds(ctx context.Context, _ *testscript.TestScript, c *cluster.Cluster, args []string) error {
	args, err := parseFlags("crds SET", 1, args, noFlags)
	if err != nil {
		return err
	}
	return c.InstallCRDs(ctx, cluster.CRDs(args[0]))
}

func apiServer(ctx context.Context, _ *testscript.TestScript, c *cluster.Cluster, args []string) error {
	const usage = "apiserver stop|start|kill"
	args, err := parseFlags(usage, 1, args, noFlags)
	if err != nil {
		return err
	}
	switch args[0] {
	case "stop":
		c.StopAPIServer()
	case "kill":
		c.KillAPIServer()
	case "start":
		return c.StartAPIServer(ctx)
	default:
		return errUsage(usage)
	}
	return nil
}

func rackProxy(_ context.Context, ts *testscript.TestScript, c *cluster.Cluster, args []string) error {
	var withTLS bool
	if _, err := parseFlags("rackproxy [-tls]", 0, args, func(flags *flag.FlagSet) { flags.BoolVar(&withTLS, "tls", false, "") }); err != nil {
		return err
	}
	proxy, err := c.StartRackProxy(withTLS)
	if err != nil {
		return err
	}
	ts.Defer(proxy.Close)
	ts.Setenv("ADMIN_URL", proxy.URL(cluster.RackAdmin))
	ts.Setenv("VIEWER_URL", proxy.URL(cluster.RackViewer))
	return nil
}

// exits runs a program and checks its exit status: exits 2 convox rack params set.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	status := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		status = exit.ExitCode()
	}
	if status != want {
		ts.Fatalf("exit status %d, want %d", status, want)
	}
}

// applied are the objects that a script applied. They go when it ends, since roles and the like hold for the whole
// cluster.
type applied struct{ objects []cluster.Object }

func (a *applied) add(object cluster.Object) { a.objects = append(a.objects, object) }

// remove deletes the objects, the last first. What is gone already is fine, and so is what is of CRDs that have gone.
func (a *applied) remove(t testscript.T, c *cluster.Cluster) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	err := c.StartAPIServer(ctx)
	for _, object := range slices.Backward(a.objects) {
		if err == nil {
			err = c.As(cluster.Admin).Remove(ctx, object)
		}
	}
	if err != nil {
		t.Fatal("cleaning up:", err)
	}
}
