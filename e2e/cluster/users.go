package cluster

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"sigs.k8s.io/yaml"
)

// The users that the API server knows. Admin may do anything; the others may do what a test lets them by RBAC, which at
// first is nothing but ask what they may.
const (
	Admin = "admin"
	Alice = "alice"
	Bob   = "bob"
)

// Users are the users, Admin first.
var Users = []string{Admin, Alice, Bob}

// Expired is a context of the kubeconfig whose token was good once.
const Expired = "expired"

// newTokens makes the secret of each user.
func newTokens() map[string]string {
	tokens := map[string]string{}
	for _, user := range Users {
		tokens[user] = rand.Text()
	}
	return tokens
}

// tokenFile is what --token-auth-file takes: a line with token, name, id and groups for each user.
func tokenFile(tokens map[string]string) []byte {
	var file bytes.Buffer
	for _, user := range Users {
		group := "testers"
		if user == Admin {
			group = "system:masters"
		}
		fmt.Fprintf(&file, "%s,%s,%s,%s\n", tokens[user], user, user, group)
	}
	return file.Bytes()
}

// Kubeconfig is a kubeconfig with a context for each user, named as the user is. The current one is Admin's. All have the
// namespace.
func (c *Cluster) Kubeconfig(namespace string) ([]byte, error) {
	type object = map[string]any
	var users, contexts []object
	for _, user := range Users {
		users = append(users, object{"name": user, "user": object{"token": c.tokens[user]}})
		contexts = append(contexts, object{"name": user, "context": object{"cluster": "e2e", "user": user, "namespace": namespace}})
	}
	expired, err := c.expiredToken()
	if err != nil {
		return nil, err
	}
	users = append(users, object{"name": Expired, "user": object{"token": expired}})
	contexts = append(contexts, object{"name": Expired, "context": object{"cluster": "e2e", "user": Expired, "namespace": namespace}})
	return yaml.Marshal(object{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []object{{"name": "e2e", "cluster": object{
			"server": c.URL(), "certificate-authority-data": c.certificate,
		}}},
		"users":           users,
		"contexts":        contexts,
		"current-context": Admin,
	})
}

// expiredToken is the token of a service account, signed with the API server's key, that ran out an hour ago.
func (c *Cluster) expiredToken() (string, error) {
	text, err := os.ReadFile(c.path("service-account.key"))
	if err != nil {
		return "", err
	}
	key, err := jwt.ParseECPrivateKeyFromPEM(text)
	if err != nil {
		return "", err
	}
	return jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
		"iss": serviceAccountIssuer, "aud": serviceAccountIssuer, "sub": "system:serviceaccount:default:default",
		"exp": time.Now().Add(-time.Hour).Unix(), "iat": time.Now().Add(-2 * time.Hour).Unix(),
		"kubernetes.io": map[string]any{"namespace": "default", "serviceaccount": map[string]any{"name": "default", "uid": "1"}},
	}).SignedString(key)
}

// WriteKubeconfig writes Kubeconfig to a file.
func (c *Cluster) WriteKubeconfig(path, namespace string) error {
	config, err := c.Kubeconfig(namespace)
	if err != nil {
		return err
	}
	return os.WriteFile(path, config, 0o600)
}

// trustCertificate reads the certificate that the API server makes for itself when it first starts.
func (c *Cluster) trustCertificate() error {
	text, err := os.ReadFile(c.path("certificates/apiserver.crt"))
	if err != nil || bytes.Equal(text, c.certificate) {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	c.certificate = text
	c.http = &http.Client{Timeout: requestTimeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true,
	}}
	return nil
}

// writeServiceAccountKey makes the key that signs the tokens of service accounts.
func writeServiceAccountKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// freePort finds a port of the loopback address that nobody listens on. It is below those that the system hands out on its
// own, so that nobody gets it while the API server is stopped.
func freePort() (int, error) {
	const first, last = 20000, 32767
	for range 100 {
		port := first + mathrand.IntN(last-first+1)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("no free port was found")
}
