package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// FieldManager is under whose name the API server keeps what this program writes.
const FieldManager = "convox-rack-params"

// Objects are those of one resource, of one namespace where the resource has any. Errors are explained; what the API server
// refused can still be told by its reason, with the functions of apimachinery's errors.
type Objects struct {
	client *Client
	api    dynamic.ResourceInterface
}

// NodePools are those of the cluster.
func (c *Client) NodePools() Objects { return Objects{c, c.dynamic.Resource(nodePools)} }

// ConfigMaps are those of a namespace.
func (c *Client) ConfigMaps(namespace string) Objects { return c.core("configmaps", namespace) }

// Secrets are those of a namespace.
func (c *Client) Secrets(namespace string) Objects { return c.core("secrets", namespace) }

func (c *Client) core(resource, namespace string) Objects {
	return Objects{c, c.dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: resource}).Namespace(namespace)}
}

// Get reads an object.
func (o Objects) Get(ctx context.Context, name string) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	object, err := o.api.Get(ctx, name, metav1.GetOptions{})
	return object, o.client.explain(err)
}

// List reads the objects that have a label.
func (o Objects) List(ctx context.Context, selector string) ([]unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	list, err := o.api.List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, o.client.explain(err)
	}
	return list.Items, nil
}

// NodePoolList reads the NodePools of the cluster.
func (c *Client) NodePoolList(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	err := c.list(ctx, nodePools, func(object *unstructured.Unstructured) error {
		list = append(list, object)
		return nil
	})
	return list, err
}

// Create makes an object.
func (o Objects) Create(ctx context.Context, object *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := o.api.Create(ctx, object, metav1.CreateOptions{FieldManager: FieldManager})
	return o.client.explain(err)
}

// Update replaces an object, if its resource version is still the one that is given.
func (o Objects) Update(ctx context.Context, object *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := o.api.Update(ctx, object, metav1.UpdateOptions{FieldManager: FieldManager})
	return o.client.explain(err)
}

// Delete deletes an object, if its resource version is still the one that is given; an empty one is any.
func (o Objects) Delete(ctx context.Context, name, resourceVersion string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	options := metav1.DeleteOptions{}
	if resourceVersion != "" {
		options.Preconditions = &metav1.Preconditions{ResourceVersion: &resourceVersion}
	}
	return o.client.explain(o.api.Delete(ctx, name, options))
}

// ApplyOptions say how an object is applied.
type ApplyOptions struct {
	// Force takes over fields that other managers have set to other values.
	Force bool
	// DryRun has the API server do all but store the object.
	DryRun bool
}

// Apply applies an object by server-side apply, and returns it as it then is.
func (o Objects) Apply(ctx context.Context, name string, object any, options ApplyOptions) (*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	patch := metav1.PatchOptions{FieldManager: FieldManager, Force: &options.Force, FieldValidation: metav1.FieldValidationStrict}
	if options.DryRun {
		patch.DryRun = []string{metav1.DryRunAll}
	}
	applied, err := o.api.Patch(ctx, name, types.ApplyPatchType, text, patch)
	return applied, o.client.explain(conflicts(err))
}

// errChanged says that an object is no longer the one that was looked at.
var errChanged = errors.New("somebody else has changed it meanwhile; look at what would change now, and apply that")

// ApplyNodePool applies a NodePool over the live one that was looked at, or makes it where that is nil: if the spec is still the one of
// then, or the one that is wanted already, as it is where an answer was lost. That Karpenter keeps the status up to date is no change.
func (c *Client) ApplyNodePool(ctx context.Context, live *unstructured.Unstructured, object, wanted map[string]any, force bool) error {
	name, _, _ := unstructured.NestedString(object, "metadata", "name")
	pools := c.NodePools()
	return c.Persist(ctx, func() error {
		for {
			if live != nil {
				now, err := pools.Get(ctx, name)
				if err != nil {
					return err
				}
				if now.GetGeneration() != live.GetGeneration() && !reflect.DeepEqual(now.Object["spec"], wanted["spec"]) {
					return errChanged
				}
				object = Overlay(object, map[string]any{"metadata": map[string]any{"resourceVersion": now.GetResourceVersion()}})
			}
			_, err := pools.Apply(ctx, name, object, ApplyOptions{Force: force})
			if !isOutdated(err) {
				return err
			}
		}
	})
}

// isOutdated reports whether an object was refused because its resource version is no longer the one that was given.
func isOutdated(err error) bool {
	return apierrors.IsConflict(err) && !IsManagedByOthers(err)
}

// IsManagedByOthers reports whether an object was refused because other managers have set fields of it to other values.
func IsManagedByOthers(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsConflict(err) && errors.As(err, &status) && hasManagerConflict(status.Status())
}

func hasManagerConflict(status metav1.Status) bool {
	return status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeFieldManagerConflict
	})
}

// conflicts names, of a conflict, each field and who manages it.
func conflicts(err error) error {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || !hasManagerConflict(status.Status()) {
		return err
	}
	var lines []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			// It reads: conflict with "Terraform" using karpenter.sh/v1
			manager, _, _ := strings.Cut(strings.TrimPrefix(cause.Message, "conflict with "), " using ")
			lines = append(lines, fmt.Sprintf("%s is managed by %s", strings.TrimPrefix(cause.Field, "."), manager))
		}
	}
	return &Error{strings.Join(lines, "\n"), err}
}

// Whoami returns the name by which the API server knows the user.
func (c *Client) Whoami(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	review, err := c.dynamic.Resource(schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}).Create(ctx,
		&unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}}, metav1.CreateOptions{})
	if err != nil {
		return "", c.explain(err)
	}
	name, _, err := unstructured.NestedString(review.Object, "status", "userInfo", "username")
	return name, err
}

// patience is how long what is being written is tried again while the API server does not answer, and quietly how long before that
// is told.
const (
	patience = time.Minute
	quietly  = time.Second
)

// Persist calls do again while it fails for a reason that passes: the API server is not reached, is starting, or has too much to
// do. One that has just started may also refuse for a moment what it allows later. It gives up after a minute, or when the
// context ends.
func (c *Client) Persist(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	passed, told, started := false, false, time.Now()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := do()
		switch {
		case err == nil:
			return nil
		case IsPassing(err):
			passed = true
		case !passed || !IsDenied(err):
			return err
		}
		if !told && time.Since(started) > quietly {
			told = true
			c.warn("trying again, since " + err.Error())
		}
		select {
		case <-ctx.Done():
			return err
		// Many who wait should not all come at once.
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}
