package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const password = "pass-word-of-the-rack"

// rackClient reaches a server as the proxy of a rack.
func rackClient(t *testing.T, server *httptest.Server) *Client {
	t.Helper()
	c, err := Open(Access{RackURL: strings.Replace(server.URL, "://", "://convox:"+password+"@", 1)})
	require.NoError(t, err)
	return c
}

func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// TestRackURL refuses what is no URL of a rack, and never repeats it.
func TestRackURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://user:" + password + "@ho st":      "RACK_URL is not a URL",
		"https://rack.example.com":                 "RACK_URL has no user or no host",
		"convox:" + password + "@rack.example.com": "RACK_URL has no user or no host",
		"https://convox:" + password + "@":         "RACK_URL has no user or no host",
		"https://a:" + password + "@h?x=1":         "RACK_URL goes on behind the host",
		"http://a:" + password + "@example.com":    "the password would go over the network for all to read",
		"ftp://a:" + password + "@127.0.0.1":       "RACK_URL is not an https URL",
	} {
		_, err := Open(Access{RackURL: text})
		assert.ErrorContains(t, err, want, text)
		assert.ErrorContains(t, err, "write https://user:password@host", text)
		assert.NotContains(t, err.Error(), password, text)
	}
	for _, text := range []string{"https://convox:p@rack.example.com", "https://convox:p@rack.example.com:8443/", "http://a:b@localhost:3000", "http://a:b@[::1]:3000"} {
		_, err := Open(Access{RackURL: text})
		assert.NoError(t, err, text)
	}
}

// TestGetThroughRack sends the credentials and the path, and knows the refusals of a proxy in all their forms.
func TestGetThroughRack(t *testing.T) {
	type answer struct {
		code              int
		contentType, body string
	}
	var next answer
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, given, _ := r.BasicAuth()
		assert.Equal(t, "convox "+password, user+" "+given)
		assert.Equal(t, "/kubernetes/apis/karpenter.sh/v1/nodepools", r.URL.Path)
		w.Header().Set("Content-Type", next.contentType)
		w.WriteHeader(next.code)
		fmt.Fprint(w, next.body)
	})
	c := rackClient(t, server)
	for _, test := range []struct {
		answer
		want string
	}{
		{answer{403, "application/json", `{"error":"admin role required for kubernetes api access"}`}, "admin role required for kubernetes api access"},
		{answer{403, "text/plain", "admin role required for kubernetes api access\n"}, "admin role required for kubernetes api access"},
		{answer{403, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`}, "no"},
		{answer{401, "text/plain", "invalid authentication"}, c.Host() + " does not know these credentials, or they have expired (401: invalid authentication); log in again, or name others"},
		{answer{502, "text/html", "<html><body>Bad Gateway</body></html>"}, c.Host() + " answered 502 Bad Gateway"},
		{answer{500, "application/json", `{"message":"it broke"}`}, c.Host() + " answered 500 Internal Server Error: it broke"},
		{answer{404, "text/plain", "404 page not found"}, ""},
	} {
		next = test.answer
		_, _, err := c.Get(t.Context(), "/kubernetes/apis/karpenter.sh/v1/nodepools")
		_, listErr := c.NodePoolList(t.Context())
		if test.want == "" {
			assert.EqualError(t, err, c.Host()+` has no "/kubernetes/apis/karpenter.sh/v1/nodepools" (404)`)
			assert.ErrorContains(t, listErr, "Karpenter's CRDs are not installed there")
			continue
		}
		assert.EqualError(t, err, test.want)
		if test.code < 500 { // the library tries those again
			assert.EqualError(t, listErr, test.want)
		}
		assert.Equal(t, test.code == 401 || test.code == 403, IsDenied(err), test)
		assert.Equal(t, test.code >= 500, IsPassing(err), test)
	}
}

// TestRedirects are not followed: whoever they lead to would get the credentials.
func TestRedirects(t *testing.T) {
	var asked atomic.Bool
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { asked.Store(true) })
	c := rackClient(t, serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }))
	_, _, err := c.Get(t.Context(), "/kubernetes/version")
	assert.EqualError(t, err, c.Host()+" answered 302 Found, and redirects are not followed; name the address that is meant")
	_, err = c.NodePoolList(t.Context())
	assert.Error(t, err)
	assert.False(t, asked.Load())
}

// TestUnreachable says why a server cannot be reached.
func TestUnreachable(t *testing.T) {
	get := func(server *httptest.Server) error {
		_, _, err := rackClient(t, server).Get(t.Context(), "/kubernetes/version")
		require.Error(t, err)
		assert.NotContains(t, err.Error(), password)
		return err
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	err := get(gone)
	assert.ErrorContains(t, err, "the connection was refused")
	assert.True(t, IsPassing(err))

	strange := httptest.NewTLSServer(nil)
	defer strange.Close()
	err = get(strange)
	assert.ErrorContains(t, err, "is signed by an authority that is not known here; name its certificate in SSL_CERT_FILE")
	assert.False(t, IsPassing(err))

	broken := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	err = get(broken)
	assert.ErrorContains(t, err, "broke off the connection")
	assert.True(t, IsPassing(err))

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	c, err := Open(Access{RackURL: "http://convox:" + password + "@" + silent.Addr().String()})
	require.NoError(t, err)
	_, _, err = c.Get(ctx, "/kubernetes/version")
	assert.ErrorContains(t, err, "did not answer within")
	assert.True(t, IsPassing(err))
}

// TestKubeconfigErrors hold no credentials.
func TestKubeconfigErrors(t *testing.T) {
	const token = "token-of-the-user"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	for text, want := range map[string]string{
		"clusters: [": "the kubeconfig: ",
		"users: [{name: a, user: {token: " + token + "}}]\ncurrent-context: a": `context was not found for specified context: a`,
		"contexts: [{name: a, context: {cluster: b}}]\ncurrent-context: a":     `its context "a" names no cluster with a server`,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Open(Access{Kubeconfig: path})
		require.Error(t, err, text)
		assert.Regexp(t, want, err.Error())
		assert.NotContains(t, err.Error(), token)
	}
}

// TestCheckPath takes paths of the API, and no way around it.
func TestCheckPath(t *testing.T) {
	for _, path := range []string{"/", "/version", "/kubernetes/apis/karpenter.sh/v1/nodeclaims", "/api/v1/namespaces/proxy-x/pods", "/a%20b"} {
		assert.NoError(t, CheckPath(path), path)
	}
	for path, want := range map[string]string{
		"":                          "does not begin with a slash",
		"version":                   "does not begin with a slash",
		"https://example.com/":      "does not begin with a slash",
		"/api?x=1":                  "has a query string",
		"/api#x":                    "has a query string",
		"/api/v1/nodes/n/proxy":     "has a proxy/ segment",
		"/api/v1/nodes/n/proxy/x":   "has a proxy/ segment",
		"/api/v1/nodes/n/pro%78y/x": "has a proxy/ segment",
		"/api/n%2Fproxy%2Fx":        "has a proxy/ segment",
		"/api/../version":           `has a segment ".."`,
		"/api/%2e%2e/version":       `has a segment ".."`,
		"/api/%zz":                  "is not a path of the API",
		"/api/\x1b[31m":             "is not a path of the API",
	} {
		assert.ErrorContains(t, CheckPath(path), want, path)
	}
}

// TestOwned picks what this program has applied, at its present values.
func TestOwned(t *testing.T) {
	var live unstructured.Unstructured
	require.NoError(t, json.Unmarshal([]byte(`{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
		"metadata": {"name": "a", "labels": {"x": "y"}, "managedFields": [
			{"manager": "terraform", "operation": "Apply", "fieldsV1": {"f:spec": {"f:weight": {}}}},
			{"manager": "convox-rack-params", "operation": "Update", "fieldsV1": {"f:spec": {"f:weight": {}}}},
			{"manager": "convox-rack-params", "operation": "Apply", "subresource": "status", "fieldsV1": {"f:status": {"f:nodes": {}}}},
			{"manager": "convox-rack-params", "operation": "Apply", "fieldsV1": {"f:spec": {
				"f:disruption": {"f:budgets": {}, "f:consolidateAfter": {}},
				"f:limits": {".": {}, "f:cpu": {}, "f:gone": {}},
				"f:template": {"f:spec": {"f:taints": {"k:{\"key\":\"a\"}": {".": {}}}}}}}}]},
		"spec": {
			"disruption": {"budgets": [{"nodes": "1"}], "consolidateAfter": "5m", "consolidationPolicy": "WhenEmpty"},
			"limits": {"cpu": 10, "memory": "1Gi"}, "weight": 5,
			"template": {"spec": {"taints": [{"key": "a"}, {"key": "b"}]}}},
		"status": {"nodes": 3}}`), &live.Object))
	text, err := json.Marshal(Owned(&live))
	require.NoError(t, err)
	assert.JSONEq(t, `{"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {
		"disruption": {"budgets": [{"nodes": "1"}], "consolidateAfter": "5m"}, "limits": {"cpu": 10},
		"template": {"spec": {"taints": [{"key": "a"}, {"key": "b"}]}}}}`, string(text))
}

// TestPersist tries again what may pass, and nothing else.
func TestPersist(t *testing.T) {
	refused := errors.New("refused")
	unavailable := apierrors.NewServiceUnavailable("starting")
	denied := apierrors.NewUnauthorized("starting")
	for _, test := range []struct {
		name  string
		errs  []error // of one try after the other
		tries int
		want  error
	}{
		{"success", []error{nil}, 1, nil},
		{"a refusal", []error{refused}, 1, refused},
		{"denied at once", []error{denied}, 1, denied},
		{"away for a moment", []error{unavailable, unavailable, nil}, 3, nil},
		{"denied while it starts", []error{unavailable, denied, nil}, 3, nil},
		{"refused when it is back", []error{unavailable, refused}, 2, refused},
	} {
		tries := 0
		err := (&Client{warn: func(string) {}}).Persist(t.Context(), func() error { tries++; return test.errs[tries-1] })
		assert.Equal(t, test.want, err, test.name)
		assert.Equal(t, test.tries, tries, test.name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	assert.Equal(t, unavailable, (&Client{warn: func(string) {}}).Persist(ctx, func() error { return unavailable }), "what it was that did not pass")
}
