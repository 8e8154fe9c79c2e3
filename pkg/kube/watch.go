package kube

import (
	"context"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"time"

	"rackparams/pkg/fleet"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Watcher keeps up with the fleet of a cluster, also when the API server goes away and comes back.
//
// It is what an informer of client-go's is, as far as it is needed here. To link those makes every start of the program slower, by a
// tenth of what all of client-go costs.
type Watcher struct {
	client  *Client
	changed chan struct{}

	mu       sync.Mutex
	objects  map[schema.GroupVersionResource]map[string]*unstructured.Unstructured // by name; none before they are listed
	failures map[schema.GroupVersionResource]Failure
}

// Failure is that a cluster cannot be watched.
type Failure struct {
	Err   error
	Since time.Time
}

// Watch watches the fleet until the context ends.
func (c *Client) Watch(ctx context.Context) *Watcher {
	w := &Watcher{
		client: c, changed: make(chan struct{}, 1),
		objects:  map[schema.GroupVersionResource]map[string]*unstructured.Unstructured{},
		failures: map[schema.GroupVersionResource]Failure{},
	}
	for _, resource := range fleetResources {
		go w.follow(ctx, resource)
	}
	return w
}

// The pauses before a resource is listed again that could not be watched, and the least between two watches.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 10 * time.Second
	watchPause   = time.Second
)

// follow lists and watches a resource, again and again.
func (w *Watcher) follow(ctx context.Context, resource schema.GroupVersionResource) {
	pause := firstPause
	for ctx.Err() == nil {
		listed, err := w.listAndWatch(ctx, resource)
		if listed {
			pause = firstPause
		}
		if err != nil && ctx.Err() == nil {
			w.note(resource, w.client.explainList(resource, err))
		}
		wait(ctx, pause/2+rand.N(pause))
		pause = min(2*pause, longestPause)
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// listAndWatch lists a resource, and watches it from then on as long as that can be done without listing it again.
func (w *Watcher) listAndWatch(ctx context.Context, resource schema.GroupVersionResource) (listed bool, err error) {
	objects := map[string]*unstructured.Unstructured{}
	version, err := w.client.listPages(ctx, resource, func(object *unstructured.Unstructured) error {
		objects[object.GetName()] = strip(object)
		return nil
	})
	if err != nil {
		return false, err
	}
	w.replace(resource, objects)
	for {
		started := time.Now()
		version, err = w.watch(ctx, resource, version)
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			return true, nil
		}
		if err != nil || ctx.Err() != nil {
			return true, err
		}
		wait(ctx, watchPause-time.Since(started))
	}
}

// watch takes up what changes after a version, until the API server ends the watch, and returns the version up to then.
func (w *Watcher) watch(ctx context.Context, resource schema.GroupVersionResource, version string) (string, error) {
	// The API server ends it after a time, as it does for everybody, so that watches spread over its replicas.
	seconds := int64(300 + rand.N(300))
	watching, err := w.client.dynamic.Resource(resource).Watch(ctx, metav1.ListOptions{ResourceVersion: version, AllowWatchBookmarks: true, TimeoutSeconds: &seconds})
	if err != nil {
		return version, err
	}
	defer watching.Stop()
	w.note(resource, nil)
	for event := range watching.ResultChan() {
		object, isObject := event.Object.(*unstructured.Unstructured)
		if event.Type == watch.Error || !isObject {
			return version, apierrors.FromObject(event.Object)
		}
		version = object.GetResourceVersion()
		switch event.Type {
		case watch.Added, watch.Modified:
			w.set(resource, object.GetName(), strip(object))
		case watch.Deleted:
			w.set(resource, object.GetName(), nil)
		}
	}
	return version, nil
}

func (w *Watcher) replace(resource schema.GroupVersionResource, objects map[string]*unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.objects[resource] = objects
	delete(w.failures, resource)
	w.signal()
}

// set keeps an object, or forgets it where it is nil.
func (w *Watcher) set(resource schema.GroupVersionResource, name string, object *unstructured.Unstructured) {
	w.mu.Lock()
	defer w.mu.Unlock()
	objects := w.objects[resource]
	switch {
	case object == nil:
		delete(objects, name)
	case reflect.DeepEqual(objects[name], object): // a heartbeat
		return
	default:
		objects[name] = object
	}
	w.signal()
}

// note keeps what fails, and forgets it when it does no more.
func (w *Watcher) note(resource schema.GroupVersionResource, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, failed := w.failures[resource]
	switch {
	case err == nil && !failed:
		return
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
	w.mu.Lock()
	defer w.mu.Unlock()
	f := &fleet.Fleet{}
	for _, resource := range fleetResources {
		objects := w.objects[resource]
		if objects == nil {
			return nil, nil
		}
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			if err := add(f, objects[name]); err != nil {
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
func strip(u *unstructured.Unstructured) *unstructured.Unstructured {
	fields := append(read[u.GetKind()], []string{"apiVersion"}, []string{"kind"}, []string{"metadata", "name"}, []string{"metadata", "labels"},
		[]string{"metadata", "creationTimestamp"}, []string{"metadata", "deletionTimestamp"})
	kept := map[string]any{}
	for _, path := range fields {
		if value, found, _ := unstructured.NestedFieldNoCopy(u.Object, path...); found {
			_ = unstructured.SetNestedField(kept, value, path...) // it fails only where something else is in the way
		}
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for i, condition := range conditions {
		if condition, ok := condition.(map[string]any); ok {
			conditions[i] = map[string]any{"type": condition["type"], "status": condition["status"]}
		}
	}
	if len(conditions) > 0 {
		_ = unstructured.SetNestedSlice(kept, conditions, "status", "conditions")
	}
	return &unstructured.Unstructured{Object: kept}
}
