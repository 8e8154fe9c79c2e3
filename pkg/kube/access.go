// Package kube reaches the API of a Kubernetes cluster: by a kubeconfig, as kubectl does, or through the proxy of a rack.
// Its errors say in words for a person why that fails, and never hold credentials.
package kube

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"rackparams/pkg/shape"

	"github.com/go-logr/logr"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// Access says how to reach a cluster. The zero value is the cluster that kubectl would reach.
type Access struct {
	// Kubeconfig is the file of that name, and Context one of its contexts; empty ones are as kubectl has them: the files of
	// KUBECONFIG, else the one in the home folder, else the service account of the pod, and the current context.
	Kubeconfig, Context string
	// RackURL is https://user:password@host of a rack, whose proxy has the Kubernetes API below /kubernetes. It goes before what
	// kubectl would reach, but not before Kubeconfig and Context.
	RackURL string
	// UserAgent is what the API server logs the program as.
	UserAgent string
	// Warn, if there is one, gets the warnings that the API server sends along.
	Warn func(message string)
}

// RackAPIPath is the path under which the proxy of a rack has the Kubernetes API.
const RackAPIPath = "/kubernetes"

// requestTimeout bounds every request but a watch.
const requestTimeout = 30 * time.Second

// Client reaches the API of one cluster.
type Client struct {
	dynamic dynamic.Interface
	http    *http.Client
	// base is the URL below which the API server has its paths, and rack the one below which the rack has them where the
	// cluster is reached through its proxy.
	base, rack *url.URL
	warn       func(message string)
}

// Open returns a client. It reads the kubeconfig and sends nothing.
func Open(a Access) (*Client, error) {
	// The library has a log on stderr for what it tries again by itself.
	klog.SetLogger(logr.Discard())
	c := &Client{warn: a.Warn}
	if c.warn == nil {
		c.warn = func(string) {}
	}
	config, err := c.config(a)
	if err != nil {
		return nil, err
	}
	config.UserAgent = a.UserAgent
	config.QPS, config.Burst = 50, 100 // the API server has limits of its own
	config.WarningHandler = warnings{c.warn}
	c.http, err = rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("the credentials for %s: %w", config.Host, err)
	}
	// Whoever is redirected to would get the credentials too.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, c.http); err != nil {
		return nil, err
	}
	c.base, _, err = rest.DefaultServerUrlFor(config)
	return c, err
}

// config is how client-go reaches the cluster.
func (c *Client) config(a Access) (*rest.Config, error) {
	if a.RackURL != "" && a.Kubeconfig == "" && a.Context == "" {
		return c.rackConfig(a.RackURL)
	}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loadingRules(a.Kubeconfig), &clientcmd.ConfigOverrides{CurrentContext: a.Context})
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, rest.ErrNotInCluster) {
		if raw, rawErr := loader.RawConfig(); rawErr == nil && len(raw.Contexts) > 0 {
			return nil, fmt.Errorf("the kubeconfig: its context %s names no cluster with a server; choose another one with --context", shape.Quote(cmp.Or(a.Context, raw.CurrentContext)))
		}
		if a.Kubeconfig != "" {
			return nil, fmt.Errorf("the kubeconfig %s has no contexts; name another one", a.Kubeconfig)
		}
		return nil, errors.New("no cluster is given: name a kubeconfig with --kubeconfig or KUBECONFIG, or set RACK_URL to https://user:password@host of a rack")
	}
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig: %w", err)
	}
	return config, nil
}

func loadingRules(kubeconfig string) *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	rules.WarnIfAllMissing = false
	return rules
}

// Contexts returns the names of the contexts of a kubeconfig, or of those that kubectl would read, as far as they can be read.
func Contexts(kubeconfig string) []string {
	config, err := loadingRules(kubeconfig).Load()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(config.Contexts))
}

// rackConfig is how to reach a cluster through the proxy of a rack. Its errors do not show the URL, which holds a password.
func (c *Client) rackConfig(text string) (*rest.Config, error) {
	const want = "write https://user:password@host"
	target, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("RACK_URL is not a URL; %s", want)
	case target.User.Username() == "" || target.Hostname() == "":
		return nil, fmt.Errorf("RACK_URL has no user or no host; %s", want)
	case target.RawQuery != "" || target.Fragment != "":
		return nil, fmt.Errorf("RACK_URL goes on behind the host; %s", want)
	case target.Scheme != "https" && !(target.Scheme == "http" && isLoopback(target.Hostname())):
		return nil, fmt.Errorf("RACK_URL is not an https URL, and the password would go over the network for all to read; %s", want)
	}
	config := &rest.Config{Username: target.User.Username()}
	config.Password, _ = target.User.Password()
	target.User = nil
	c.rack = target
	config.Host = target.JoinPath(RackAPIPath).String()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return proxyErrors{next} })
	return config, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// warnings hands on what the API server sends along with an answer.
type warnings struct{ warn func(string) }

func (w warnings) HandleWarningHeader(code int, _, text string) {
	const miscellaneous = 299 // the only code that Kubernetes uses
	if code == miscellaneous && text != "" {
		w.warn("the API server says: " + text)
	}
}

// Host is the host of the cluster, for messages.
func (c *Client) Host() string { return shape.Shorten(c.base.Host) }

// ThroughRack reports whether the cluster is reached through the proxy of a rack. The API server then knows everybody as the proxy.
func (c *Client) ThroughRack() bool { return c.rack != nil }

// target is the URL of a path that a user gives: of the rack where the cluster is reached through its proxy, else of the
// API server, for which the prefix that a rack has is left out.
func (c *Client) target(path string) *url.URL {
	if c.rack != nil {
		return c.rack.JoinPath(path)
	}
	if rest, found := strings.CutPrefix(path, RackAPIPath); found && (rest == "" || rest[0] == '/') {
		path = rest
	}
	return c.base.JoinPath(path)
}
