package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Object is an object of the API as JSON has it.
type Object = map[string]any

// Client talks to the API server as one of the users. Where it fails because the API server says no, the error is a
// *StatusError.
type Client struct {
	cluster *Cluster
	user    string
}

// requestTimeout bounds every request.
const requestTimeout = 30 * time.Second

// As returns a client of a user.
func (c *Cluster) As(user string) Client { return Client{c, user} }

// StatusError is the API server's refusal.
type StatusError struct {
	Code            int
	Reason, Message string
	retryAfter      time.Duration // when to ask again, if at all
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s (%s)", e.Message, strings.TrimSpace(fmt.Sprint(e.Code, " ", e.Reason)))
}

// IsNotFound reports whether err says that there is no such object.
func IsNotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusNotFound
}

type request struct {
	method, path, contentType, accept string
	query                             url.Values
	body                              []byte
}

type response struct {
	body     []byte
	warnings []string
}

func (r response) object() (Object, error) {
	var object Object
	err := json.Unmarshal(r.body, &object)
	return object, err
}

// do sends a request, again where the API server asks for that because it is getting ready.
func (c Client) do(ctx context.Context, r request) (response, error) {
	for tries := 1; ; tries++ {
		answer, err := c.try(ctx, r)
		var status *StatusError
		if !errors.As(err, &status) || status.retryAfter == 0 || tries == maxTries {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(status.retryAfter):
		}
	}
}

// maxTries is as often as client-go tries.
const maxTries = 10

func (c Client) try(ctx context.Context, r request) (response, error) {
	target := c.cluster.URL() + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	httpRequest, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(r.body))
	if err != nil {
		return response{}, err
	}
	httpRequest.Header.Set("Authorization", "Bearer "+c.cluster.tokens[c.user])
	if r.accept != "" {
		httpRequest.Header.Set("Accept", r.accept)
	}
	if r.contentType != "" {
		httpRequest.Header.Set("Content-Type", r.contentType)
	}
	answer, err := c.cluster.http.Do(httpRequest)
	if err != nil {
		return response{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return response{}, err
	}
	if answer.StatusCode/100 != 2 {
		return response{}, newStatusError(answer, body)
	}
	return response{body, warnings(answer.Header)}, nil
}

func newStatusError(answer *http.Response, body []byte) *StatusError {
	var status struct{ Reason, Message string }
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		status.Message = strings.TrimSpace(string(body))
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return &StatusError{answer.StatusCode, status.Reason, status.Message, time.Duration(seconds) * time.Second}
}

// warnings returns the texts of the Warning headers, which look like this: 299 - "unknown field \"a\"".
func warnings(header http.Header) []string {
	var texts []string
	for _, value := range header.Values("Warning") {
		_, text, _ := strings.Cut(value, `"`)
		texts = append(texts, strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(strings.TrimSuffix(text, `"`)))
	}
	return texts
}

// Validation is what becomes of fields that the API server does not know, in an object that is created. Server-side apply
// refuses them in any case.
type Validation string

// The validations. Strict is what kubectl asks for, and Warn what a client gets that asks for nothing.
const (
	Strict Validation = "Strict"
	Warn   Validation = "Warn"
	Ignore Validation = "Ignore"
)

// ApplyOptions say how to apply an object.
type ApplyOptions struct {
	// Manager is under whose name the fields are kept; it is "e2e" where none is given.
	Manager string
	// Force takes over fields that others manage.
	Force bool
	// Subresource is "status" to set the status instead of the rest.
	Subresource string
}

// Apply applies an object by server-side apply. It returns the object as it then is, with the API server's warnings. A
// namespaced object that names no namespace is put into the one that is given.
func (c Client) Apply(ctx context.Context, object Object, namespace string, options ApplyOptions) (Object, []string, error) {
	resource, err := c.resourceOf(ctx, object)
	if err != nil {
		return nil, nil, err
	}
	query := url.Values{"fieldManager": {cmp.Or(options.Manager, defaultManager)}, "fieldValidation": {string(Strict)}}
	if options.Force {
		query.Set("force", "true")
	}
	path := resource.path(namespaceAndName(object, namespace))
	if options.Subresource != "" {
		path += "/" + options.Subresource
	}
	return c.send(ctx, object, request{method: "PATCH", path: path, query: query, contentType: "application/apply-patch+yaml"})
}

// Create makes a new object and returns what Apply does.
func (c Client) Create(ctx context.Context, object Object, namespace string, validation Validation) (Object, []string, error) {
	resource, err := c.resourceOf(ctx, object)
	if err != nil {
		return nil, nil, err
	}
	query := url.Values{"fieldManager": {defaultManager}, "fieldValidation": {string(validation)}}
	namespace, _ = namespaceAndName(object, namespace)
	return c.send(ctx, object, request{method: "POST", path: resource.path(namespace, ""), query: query, contentType: "application/json"})
}

const defaultManager = "e2e"

// send sends an object and returns the one that the API server answers with, and its warnings.
func (c Client) send(ctx context.Context, object Object, r request) (_ Object, warnings []string, err error) {
	if r.body, err = json.Marshal(object); err != nil {
		return nil, nil, err
	}
	answer, err := c.do(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	stored, err := answer.object()
	return stored, answer.warnings, err
}

// namespaceAndName returns where an object belongs.
func namespaceAndName(object Object, defaultNamespace string) (namespace, name string) {
	metadata, _ := object["metadata"].(Object)
	name, _ = metadata["name"].(string)
	if namespace, _ = metadata["namespace"].(string); namespace == "" {
		namespace = defaultNamespace
	}
	return namespace, name
}

// Get returns the object of a name. The namespace counts for namespaced resources only.
func (c Client) Get(ctx context.Context, resource, namespace, name string) (Object, error) {
	found, err := c.resource(ctx, resource)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, found.path(namespace, name))
}

// Find returns the object in the API server that has the kind and the name of the one that is given.
func (c Client) Find(ctx context.Context, object Object, namespace string) (Object, error) {
	found, err := c.resourceOf(ctx, object)
	if err != nil {
		return nil, err
	}
	return c.get(ctx, found.path(namespaceAndName(object, namespace)))
}

func (c Client) get(ctx context.Context, path string) (Object, error) {
	answer, err := c.do(ctx, request{path: path})
	if err != nil {
		return nil, err
	}
	return answer.object()
}

// Delete deletes the object of a name, or where the name is empty, all of the resource in the namespace.
func (c Client) Delete(ctx context.Context, resource, namespace, name string) error {
	found, err := c.resource(ctx, resource)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, request{method: "DELETE", path: found.path(namespace, name)})
	return err
}

// Remove deletes an object that Apply, Get or Find returned. It is fine if it is gone.
func (c Client) Remove(ctx context.Context, object Object) error {
	found, err := c.resourceOf(ctx, object)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, request{method: "DELETE", path: found.path(namespaceAndName(object, ""))})
	if IsNotFound(err) {
		return nil
	}
	return err
}

// annotate changes an annotation of an object.
func (c Client) annotate(ctx context.Context, resource, name, key, value string) error {
	found, err := c.resource(ctx, resource)
	if err != nil {
		return err
	}
	change := Object{"metadata": Object{"annotations": Object{key: value}}}
	_, _, err = c.send(ctx, change, request{method: "PATCH", path: found.path("", name), contentType: "application/merge-patch+json"})
	return err
}
