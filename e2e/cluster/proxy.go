package cluster

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
)

// RackProxy stands in for a rack whose API has the Kubernetes API below /kubernetes, for those who have the admin role.
type RackProxy struct {
	server *httptest.Server
}

// The users of the rack. Each has the password of that name.
const (
	RackAdmin  = "rack-admin"
	RackViewer = "rack-viewer"
)

const rackPassword = "s3cret-of-the-rack"

// StartRackProxy starts the rack's API in front of the cluster. With TLS its certificate is one that nobody trusts.
func (c *Cluster) StartRackProxy(withTLS bool) (*RackProxy, error) {
	return c.startRackProxy(withTLS, func(api http.Handler) http.Handler { return api })
}

// StartBrokenProxy starts the rack's API with something in between that answers requests in the API server's stead, or loses its
// answers.
func (c *Cluster) StartBrokenProxy(between func(api http.Handler) http.Handler) (*RackProxy, error) {
	return c.startRackProxy(false, between)
}

func (c *Cluster) startRackProxy(withTLS bool, between func(http.Handler) http.Handler) (*RackProxy, error) {
	target, err := url.Parse(c.URL())
	if err != nil {
		return nil, err
	}
	api := between(&httputil.ReverseProxy{
		Transport: c.http.Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.URL.Path = strings.TrimPrefix(r.In.URL.Path, "/kubernetes")
			r.Out.Header.Set("Authorization", "Bearer "+c.tokens[Admin])
		},
	})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case password != rackPassword:
			http.Error(w, "invalid authentication", http.StatusUnauthorized)
		case !strings.HasPrefix(r.URL.Path, "/kubernetes/"):
			http.NotFound(w, r)
		case user != RackAdmin:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintln(w, `{"error":"admin role required for kubernetes api access"}`)
		default:
			api.ServeHTTP(w, r)
		}
	})
	if withTLS {
		return &RackProxy{httptest.NewTLSServer(handler)}, nil
	}
	return &RackProxy{httptest.NewServer(handler)}, nil
}

// URL is what RACK_URL is for a user.
func (p *RackProxy) URL(user string) string {
	target, err := url.Parse(p.server.URL)
	if err != nil {
		panic(err) // httptest made it
	}
	target.User = url.UserPassword(user, rackPassword)
	return target.String()
}

// Close ends the proxy.
func (p *RackProxy) Close() { p.server.CloseClientConnections(); p.server.Close() }
