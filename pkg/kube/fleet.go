package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"rackparams/pkg/fleet"
	"rackparams/pkg/nodepool"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The resources of a fleet.
var (
	nodePools  = schema.GroupVersionResource{Group: nodepool.Group, Version: "v1", Resource: "nodepools"}
	nodeClaims = schema.GroupVersionResource{Group: nodepool.Group, Version: "v1", Resource: "nodeclaims"}
	nodes      = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

	fleetResources = []schema.GroupVersionResource{nodePools, nodeClaims, nodes}
)

// Fleet reads the NodePools, NodeClaims and nodes of the cluster.
func (c *Client) Fleet(ctx context.Context) (*fleet.Fleet, error) {
	f := &fleet.Fleet{}
	for _, resource := range fleetResources {
		if err := c.list(ctx, resource, func(object *unstructured.Unstructured) error { return add(f, object) }); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// NodeClaims reads the NodeClaims of the cluster alone.
func (c *Client) NodeClaims(ctx context.Context) (*fleet.Fleet, error) {
	f := &fleet.Fleet{}
	err := c.list(ctx, nodeClaims, func(object *unstructured.Unstructured) error { return add(f, object) })
	return f, err
}

// list calls each with every object of a resource.
func (c *Client) list(ctx context.Context, resource schema.GroupVersionResource, each func(*unstructured.Unstructured) error) error {
	_, err := c.listPages(ctx, resource, each)
	return c.explainList(resource, err)
}

// pageSize is how many objects are read at once.
const pageSize = 500

// listPages calls each with every object of a resource, page by page, and returns the version of the list.
func (c *Client) listPages(ctx context.Context, resource schema.GroupVersionResource, each func(*unstructured.Unstructured) error) (version string, err error) {
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := c.listPage(ctx, resource, options)
		// A list that takes too long goes on as the cluster is by then, if the API server can tell from where.
		var status apierrors.APIStatus
		if apierrors.IsResourceExpired(err) && errors.As(err, &status) && status.Status().Continue != "" {
			options.Continue = status.Status().Continue
			continue
		}
		if err != nil {
			return "", err
		}
		for i := range page.Items {
			if err := each(&page.Items[i]); err != nil {
				return "", err
			}
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return page.GetResourceVersion(), nil
		}
	}
}

func (c *Client) listPage(ctx context.Context, resource schema.GroupVersionResource, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	return c.dynamic.Resource(resource).List(ctx, options)
}

// explainList says why a resource cannot be listed or watched.
func (c *Client) explainList(resource schema.GroupVersionResource, err error) error {
	// An object is not found by its name, a resource without one.
	if apierrors.IsNotFound(err) {
		message := fmt.Sprintf("%s has no %s of %s: Karpenter's CRDs are not installed there, or are of an old version; is it the right cluster?",
			c.Host(), resource.Resource, resource.GroupVersion())
		if c.rack != nil {
			message += " Or the rack has no Kubernetes API below " + RackAPIPath + "."
		}
		return &Error{message, err}
	}
	return c.explain(err)
}

// Manifest is a NodePool of the cluster as it would be read from a file.
func Manifest(object *unstructured.Unstructured) (*nodepool.Manifest, error) {
	f := &fleet.Fleet{}
	if err := add(f, object); err != nil {
		return nil, err
	}
	if len(f.Pools) != 1 {
		return nil, fmt.Errorf("the object %s is no NodePool", object.GetName())
	}
	return f.Pools[0], nil
}

func add(f *fleet.Fleet, object *unstructured.Unstructured) error {
	err := f.Add(object.GetAPIVersion(), object.GetKind(), func(v any) error {
		if raw, ok := v.(*json.RawMessage); ok {
			text, err := object.MarshalJSON()
			*raw = text
			return err
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, v)
	})
	if err != nil {
		return &Error{fmt.Sprintf("the %s %s: %s", object.GetKind(), object.GetName(), err), err}
	}
	return nil
}
