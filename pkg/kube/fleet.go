package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	"rackparams/pkg/fleet"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
)

// The resources of a fleet.
var (
	nodePools  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	nodeClaims = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
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

// list calls each with every object of a resource, page by page.
func (c *Client) list(ctx context.Context, resource schema.GroupVersionResource, each func(*unstructured.Unstructured) error) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		return c.dynamic.Resource(resource).List(ctx, options)
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{}, func(object runtime.Object) error {
		return each(object.(*unstructured.Unstructured))
	})
	return c.explainList(resource, err)
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

// Watcher keeps up with the fleet of a cluster, also when the API server goes away and comes back.
type Watcher struct {
	informers []cache.SharedIndexInformer
	changed   chan struct{}

	mu       sync.Mutex
	failures map[schema.GroupVersionResource]Failure
}

// Failure is that a cluster cannot be watched.
type Failure struct {
	Err   error
	Since time.Time
}

// Watch watches the fleet until the context ends.
func (c *Client) Watch(ctx context.Context) (*Watcher, error) {
	w := &Watcher{changed: make(chan struct{}, 1), failures: map[schema.GroupVersionResource]Failure{}}
	for _, resource := range fleetResources {
		informer := cache.NewSharedIndexInformer(w.listWatch(c, resource), &unstructured.Unstructured{}, 0, nil)
		if err := informer.SetTransform(strip); err != nil {
			return nil, err
		}
		// What fails is kept in failures; the library would write it to stderr.
		if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) { w.signal() }); err != nil {
			return nil, err
		}
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { w.signal() }, DeleteFunc: func(any) { w.signal() },
			UpdateFunc: func(before, after any) {
				if !reflect.DeepEqual(before, after) { // a heartbeat, otherwise
					w.signal()
				}
			},
		}); err != nil {
			return nil, err
		}
		w.informers = append(w.informers, informer)
		go informer.RunWithContext(ctx)
	}
	return w, nil
}

// listWatch lists and watches a resource, and keeps books of what fails.
func (w *Watcher) listWatch(c *Client, resource schema.GroupVersionResource) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			ctx, cancel := context.WithTimeout(ctx, requestTimeout)
			defer cancel()
			list, err := c.dynamic.Resource(resource).List(ctx, options)
			w.note(resource, c.explainList(resource, err))
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			watching, err := c.dynamic.Resource(resource).Watch(ctx, options)
			// What is too old is listed anew.
			if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
				w.note(resource, c.explainList(resource, err))
			}
			return watching, err
		},
	}
}

func (w *Watcher) note(resource schema.GroupVersionResource, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, failed := w.failures[resource]
	switch {
	case err == nil:
		delete(w.failures, resource)
	case failed && IsDenied(before.Err) == IsDenied(err):
		w.failures[resource] = Failure{err, before.Since}
	default:
		w.failures[resource] = Failure{err, time.Now()}
	}
	w.signal()
}

func (w *Watcher) signal() {
	select {
	case w.changed <- struct{}{}:
	default: // it is signalled already
	}
}

// Changed has something to receive when the fleet, or what fails, has changed.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Failure returns what has kept the cluster from being watched for longest, if anything does.
func (w *Watcher) Failure() (failure Failure, failing bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, resource := range fleetResources {
		if f, failed := w.failures[resource]; failed && (!failing || f.Since.Before(failure.Since)) {
			failure, failing = f, true
		}
	}
	return failure, failing
}

// Fleet returns the fleet as it was last seen, or nil before all of it was.
func (w *Watcher) Fleet() (*fleet.Fleet, error) {
	f := &fleet.Fleet{}
	for _, informer := range w.informers {
		if !informer.HasSynced() {
			return nil, nil
		}
		for _, object := range informer.GetStore().List() {
			if err := add(f, object.(*unstructured.Unstructured)); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// read are the fields of objects that anything is read of. The rest of a node is most of it, and changes with every heartbeat.
var read = map[string][][]string{
	"NodePool":  {{"spec"}},
	"NodeClaim": {{"spec", "expireAfter"}, {"status", "providerID"}},
	"Node":      {{"spec", "providerID"}, {"spec", "taints"}},
}

// strip keeps of an object what is read of it.
func strip(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	fields := append(read[u.GetKind()], []string{"apiVersion"}, []string{"kind"}, []string{"metadata", "name"}, []string{"metadata", "labels"},
		[]string{"metadata", "creationTimestamp"}, []string{"metadata", "deletionTimestamp"})
	kept := map[string]any{}
	for _, path := range fields {
		if value, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...); found {
			if err := unstructured.SetNestedField(kept, value, path...); err != nil {
				return nil, err
			}
		}
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for i, condition := range conditions {
		if condition, ok := condition.(map[string]any); ok {
			conditions[i] = map[string]any{"type": condition["type"], "status": condition["status"]}
		}
	}
	if len(conditions) > 0 {
		if err := unstructured.SetNestedSlice(kept, conditions, "status", "conditions"); err != nil {
			return nil, err
		}
	}
	return &unstructured.Unstructured{Object: kept}, nil
}
