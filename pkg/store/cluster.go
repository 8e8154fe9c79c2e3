package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rackparams/params"
	"rackparams/pkg/kube"
	"rackparams/pkg/shape"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Cluster is a store in a namespace of a Kubernetes cluster.
type Cluster struct {
	selection
	client         *kube.Client
	namespace, who string
}

// InCluster returns the store in a namespace. The current rack is kept in the folder dir, which need not exist yet. What is changed
// is recorded as by the user whom the API server knows, or where it does not say, by who.
func InCluster(client *kube.Client, namespace, dir, who string) *Cluster {
	return &Cluster{selection{dir}, client, namespace, who}
}

// user is who makes a change.
func (s *Cluster) user(ctx context.Context) (string, error) {
	name, err := s.client.Whoami(ctx)
	// API servers before 1.28 cannot be asked, and some do not let everybody ask.
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return s.who, nil
	}
	return name, err
}

// The labels and annotations of the objects. Names of racks are no names of objects, and so stand in an annotation.
const (
	managedByLabel     = "app.kubernetes.io/managed-by"
	rackLabel          = "convox.io/rack-params" // a digest of the rack's name
	rackAnnotation     = "convox.io/rack"
	providerAnnotation = "convox.io/provider"
	secretAnnotation   = "convox.io/rack-secret" // the name of the Secret that counts
)

// historyKey is the key of the ConfigMap with the history, which no parameter can be called.
const historyKey = "history.jsonl"

// The most that is kept of the history in a ConfigMap, which holds a MiB in all.
const (
	maxClusterEntries = 200
	maxClusterHistory = 128 << 10
)

// clusterTimeout is how long a change is tried.
const clusterTimeout = 90 * time.Second

// clusterRack is a rack as it was read.
type clusterRack struct {
	Rack
	object  *unstructured.Unstructured
	secret  string
	history []Entry
}

// resourceVersion is the version of the rack that was read.
func (r *clusterRack) resourceVersion() string { return r.object.GetResourceVersion() }

func rackID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

// objectName is the name of a rack's ConfigMap. A name that Kubernetes does not take is changed until it does, and told from
// others by a digest.
func objectName(name string) string {
	const prefix = "convox-rack-"
	if plainName().MatchString(name) {
		return prefix + name
	}
	return prefix + strings.Trim(unplain().ReplaceAllString(strings.ToLower(name), "-"), "-") + "-" + rackID(name)[:8]
}

var (
	plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`) })
	unplain   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })
)

// Names returns the names of the racks, sorted.
func (s *Cluster) Names() ([]string, error) {
	objects, err := s.client.ConfigMaps(s.namespace).List(context.Background(), rackLabel)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, object := range objects {
		if name := object.GetAnnotations()[rackAnnotation]; CheckName(name) == nil && object.GetName() == objectName(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Rack reads a rack.
func (s *Cluster) Rack(name string) (Rack, error) {
	rack, err := s.read(context.Background(), name)
	if err != nil {
		return Rack{}, err
	}
	return rack.Rack, nil
}

// History returns what changed a rack.
func (s *Cluster) History(name string) ([]Entry, error) {
	rack, err := s.read(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return rack.history, nil
}

// Switch makes a rack the current one.
func (s *Cluster) Switch(name string) error {
	if _, err := s.Rack(name); err != nil {
		return err
	}
	return s.choose(name)
}

// errReplaced says that the Secret that a ConfigMap named has gone, which it does when another takes its place.
var errReplaced = errors.New("its Secret is gone")

// read reads a rack: its ConfigMap, and the Secret that it names.
func (s *Cluster) read(ctx context.Context, name string) (*clusterRack, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	missing := ""
	for {
		rack, err := s.tryRead(ctx, name)
		if !errors.Is(err, errReplaced) {
			return rack, err
		}
		// Named by the same version as before, it is missing and not replaced.
		if rack.resourceVersion() == missing {
			return nil, fmt.Errorf("the rack %s: the Secret %s in the namespace %s is gone, and with it the sensitive parameters; restore it, or delete the rack with `rack delete`",
				name, rack.secret, s.namespace)
		}
		missing = rack.resourceVersion()
	}
}

func (s *Cluster) tryRead(ctx context.Context, name string) (*clusterRack, error) {
	object, err := s.client.ConfigMaps(s.namespace).Get(ctx, objectName(name))
	if apierrors.IsNotFound(err) {
		return nil, s.notFound(name)
	}
	if err != nil {
		return nil, err
	}
	damaged := func(says string) error {
		return fmt.Errorf("the ConfigMap %s in the namespace %s is damaged: %s; it is left as it is, mend it or restore it", object.GetName(), s.namespace, says)
	}
	annotations := object.GetAnnotations()
	if annotations[rackAnnotation] != name {
		return nil, damaged(fmt.Sprintf("its annotation %s is %s and not %s", rackAnnotation, shape.Quote(annotations[rackAnnotation]), name))
	}
	values, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		return nil, damaged("its data is not a map of strings")
	}
	rack := &clusterRack{object: object, secret: annotations[secretAnnotation], history: parseHistory(values[historyKey])}
	delete(values, historyKey)
	if values == nil {
		values = map[string]string{}
	}
	if rack.secret != "" {
		secret, err := s.client.Secrets(s.namespace).Get(ctx, rack.secret)
		if apierrors.IsNotFound(err) {
			return rack, errReplaced
		}
		if err != nil {
			return nil, err
		}
		if err := addSecret(values, secret); err != nil {
			return nil, fmt.Errorf("the Secret %s in the namespace %s is damaged: %w", rack.secret, s.namespace, err)
		}
	}
	rack.Name = name
	if rack.Rack.Rack, err = params.NewRack(annotations[providerAnnotation], values); err != nil {
		return nil, fmt.Errorf("the rack %s: %w", name, err)
	}
	return rack, nil
}

// addSecret adds the values of a Secret to others.
func addSecret(values map[string]string, secret *unstructured.Unstructured) error {
	data, _, err := unstructured.NestedStringMap(secret.Object, "data")
	if err != nil {
		return errors.New("its data is not a map of strings")
	}
	for name, encoded := range data {
		value, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return fmt.Errorf("the value of %s is not base64", shape.Quote(name))
		}
		values[name] = string(value)
	}
	return nil
}

func (s *Cluster) notFound(name string) error {
	names, err := s.Names()
	if err != nil {
		return err
	}
	return &NotFoundError{Name: name, Known: names}
}

// parseHistory reads the entries, a line each. What is none is passed over: it is told to people, and nothing hangs on it.
func parseHistory(text string) []Entry {
	var entries []Entry
	for line := range strings.Lines(text) {
		var entry Entry
		if json.Unmarshal([]byte(line), &entry) == nil {
			entries = append(entries, entry)
		}
	}
	return entries
}

// formatHistory writes the newest entries, as many as are kept.
func formatHistory(entries []Entry) (string, error) {
	var lines []string
	size := 0
	for _, entry := range slices.Backward(entries) {
		line, err := json.Marshal(entry)
		if err != nil {
			return "", err
		}
		if size += len(line) + 1; len(lines) == maxClusterEntries || len(lines) > 0 && size > maxClusterHistory {
			break
		}
		lines = append(lines, string(line)+"\n")
	}
	slices.Reverse(lines)
	return strings.Join(lines, ""), nil
}

// Create makes a rack.
func (s *Cluster) Create(name, provider string, values map[string]string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), clusterTimeout)
	defer cancel()
	who, err := s.user(ctx)
	if err != nil {
		return err
	}
	entry := newEntry(ActionCreate, who, nil, values)
	rack := &clusterRack{object: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}}
	rack.Name = name
	rack.object.SetName(objectName(name))
	rack.object.SetLabels(labels(name))
	rack.object.SetAnnotations(map[string]string{rackAnnotation: name, providerAnnotation: provider})
	return s.write(ctx, rack, values, entry, func(object *unstructured.Unstructured) error {
		_, err := s.client.ConfigMaps(s.namespace).Create(ctx, object)
		if apierrors.IsAlreadyExists(err) {
			// It may be ours, if an answer was lost.
			if there, readErr := s.read(ctx, name); readErr == nil && there.has(entry) {
				return nil
			}
			return fmt.Errorf("the rack %s is there already; choose another name, or delete it first with `rack delete`", name)
		}
		return err
	})
}

func labels(name string) map[string]string {
	return map[string]string{managedByLabel: kube.FieldManager, rackLabel: rackID(name)}
}

// has reports whether an entry is in the history of the rack, and so its change is stored.
func (r *clusterRack) has(entry Entry) bool {
	return slices.ContainsFunc(r.history, func(e Entry) bool { return e.ID == entry.ID })
}

// ConflictError says that somebody else changed parameters while a change to them was on its way.
type ConflictError struct {
	Names []string
	// By are the changes of the others, as far as they are known.
	By []Entry
}

func (e *ConflictError) Error() string {
	var lines []string
	for _, name := range e.Names {
		line := fmt.Sprintf("%s was changed by somebody else at the same time", name)
		for _, entry := range e.By {
			for _, change := range entry.Changes {
				if change.Name == name {
					line = fmt.Sprintf("%s was changed %sby %s at %s, at the same time", name, change.describe(), entry.Who, entry.When.Format(time.RFC3339))
				}
			}
		}
		lines = append(lines, line+"; nothing is stored: look at it, and set it again if it is still meant")
	}
	return strings.Join(lines, "\n")
}

func (c Change) describe() string {
	switch {
	case c.Hidden:
		return ""
	case c.To == nil:
		return "back to its default "
	}
	return "to " + shape.Quote(*c.To) + " "
}

// Update changes the values of a rack. Where somebody else changes it at the same time, the change is made again on what is then
// there; it is refused with a *ConflictError where it would undo theirs.
func (s *Cluster) Update(name string, change func(Rack) (map[string]string, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), clusterTimeout)
	defer cancel()
	base, err := s.read(ctx, name)
	if err != nil {
		return err
	}
	who, err := s.user(ctx)
	if err != nil {
		return err
	}
	current := base
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		before := current.Stored()
		values, err := change(current.Rack)
		if err != nil {
			return err
		}
		entry := newEntry(ActionSet, who, before, values)
		if len(entry.Changes) == 0 {
			return nil
		}
		if err := conflict(base, current, entry); err != nil {
			return err
		}
		err = s.write(ctx, current, values, entry, func(object *unstructured.Unstructured) error {
			err := s.client.ConfigMaps(s.namespace).Update(ctx, object)
			if apierrors.IsConflict(err) {
				// It may be ours, if an answer was lost.
				if there, readErr := s.read(ctx, name); readErr == nil && there.has(entry) {
					return nil
				}
			}
			return err
		})
		if !apierrors.IsConflict(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the rack %s was changed by others again and again for %s; try again", name, clusterTimeout)
		case <-time.After(mathrand.N(pause)):
		}
		if err := kube.Persist(ctx, func() error { current, err = s.read(ctx, name); return err }); err != nil {
			return err
		}
	}
}

// conflict is the error of a change, as an entry, to what others have changed from base to current.
func conflict(base, current *clusterRack, entry Entry) error {
	theirs := changed(base.Stored(), current.Stored())
	var names []string
	for _, change := range entry.Changes {
		if slices.Contains(theirs, change.Name) {
			names = append(names, change.Name)
		}
	}
	if names == nil {
		return nil
	}
	by := slices.DeleteFunc(slices.Clone(current.history), func(e Entry) bool { return base.has(e) })
	return &ConflictError{names, by}
}

// write writes the values of a rack with one more entry of its history: the sensitive ones into a Secret of their own where they
// have changed, then the others into the ConfigMap by commit, from when on both count, and last deletes the Secret that no longer
// does. What fails while the API server is away is tried again; commit has to tell whether it has been done already.
func (s *Cluster) write(ctx context.Context, rack *clusterRack, values map[string]string, entry Entry, commit func(*unstructured.Unstructured) error) error {
	plain, secret := map[string]any{}, map[string]any{}
	for name, value := range values {
		switch {
		case !params.IsName(name):
			return fmt.Errorf("%s is not the name of a parameter, and cannot be kept in a cluster", shape.Quote(name))
		case params.MayBeSecret(name):
			secret[name] = base64.StdEncoding.EncodeToString([]byte(value))
		default:
			plain[name] = value
		}
	}
	history, err := formatHistory(append(slices.Clone(rack.history), entry))
	if err != nil {
		return err
	}
	plain[historyKey] = history

	object := rack.object.DeepCopy()
	object.SetManagedFields(nil)
	object.Object["data"] = plain
	newSecret := ""
	if secretChanged(entry) || rack.secret == "" && len(secret) > 0 {
		if len(secret) > 0 {
			newSecret = rack.object.GetName() + "-" + strings.ToLower(rand.Text()[:10])
		}
		annotations := object.GetAnnotations()
		annotations[secretAnnotation] = newSecret
		object.SetAnnotations(annotations)
	}
	if newSecret != "" {
		if err := s.createSecret(ctx, rack, newSecret, secret); err != nil {
			return err
		}
	}
	if err := kube.Persist(ctx, func() error { return commit(object) }); err != nil {
		if newSecret != "" && !kube.IsPassing(err) { // else the ConfigMap may name it
			_ = s.client.Secrets(s.namespace).Delete(ctx, newSecret, "")
		}
		return err
	}
	if replaced := object.GetAnnotations()[secretAnnotation] != rack.secret; replaced {
		s.deleteSecrets(ctx, rack, newSecret)
	}
	return nil
}

// secretChanged reports whether a change is one of what is kept in the Secret.
func secretChanged(entry Entry) bool {
	return slices.ContainsFunc(entry.Changes, func(c Change) bool { return c.Hidden })
}

func (s *Cluster) createSecret(ctx context.Context, rack *clusterRack, name string, data map[string]any) error {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true, "data": data,
	}}
	secret.SetName(name)
	secret.SetLabels(labels(rack.Name))
	secret.SetAnnotations(map[string]string{rackAnnotation: rack.Name})
	return kube.Persist(ctx, func() error {
		_, err := s.client.Secrets(s.namespace).Create(ctx, secret)
		if apierrors.IsAlreadyExists(err) { // an answer was lost
			return nil
		}
		return err
	})
}

// abandonedAfter is how old a Secret is that the ConfigMap does not name and that no writer can be about to name any more.
const abandonedAfter = 10 * time.Minute

// deleteSecrets deletes the Secret that was replaced, and those that writers left who did not come to the end. What cannot be
// deleted now is by a later writer. A reader who still knows the old one reads the ConfigMap again.
func (s *Cluster) deleteSecrets(ctx context.Context, rack *clusterRack, keep string) {
	secrets, err := s.client.Secrets(s.namespace).List(ctx, rackLabel+"="+rackID(rack.Name))
	if err != nil {
		return
	}
	for _, secret := range secrets {
		name := secret.GetName()
		abandoned := name != keep && time.Since(secret.GetCreationTimestamp().Time) > abandonedAfter
		if abandoned || name == rack.secret {
			_ = s.client.Secrets(s.namespace).Delete(ctx, name, "")
		}
	}
}

// Delete forgets a rack.
func (s *Cluster) Delete(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), clusterTimeout)
	defer cancel()
	if err := CheckName(name); err != nil {
		return err
	}
	object, err := s.client.ConfigMaps(s.namespace).Get(ctx, objectName(name))
	if apierrors.IsNotFound(err) {
		return s.notFound(name)
	}
	if err == nil {
		err = s.client.ConfigMaps(s.namespace).Delete(ctx, object.GetName(), object.GetResourceVersion())
	}
	if apierrors.IsConflict(err) {
		return fmt.Errorf("the rack %s was changed at the same time, and is not deleted; look at it, and delete it again if that is still meant", name)
	}
	if err != nil {
		return err
	}
	secrets, err := s.client.Secrets(s.namespace).List(ctx, rackLabel+"="+rackID(name))
	for _, secret := range secrets {
		if deleteErr := s.client.Secrets(s.namespace).Delete(ctx, secret.GetName(), ""); !apierrors.IsNotFound(deleteErr) {
			err = errors.Join(err, deleteErr)
		}
	}
	if err != nil {
		return fmt.Errorf("the rack %s is forgotten, but not all of its Secrets in the namespace %s: %w", name, s.namespace, err)
	}
	return s.forget(name)
}
