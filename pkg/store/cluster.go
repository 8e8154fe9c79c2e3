package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
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

// CheckNamespace says whether a namespace may have that name.
func CheckNamespace(name string) error {
	if len(name) > 63 || !plainName().MatchString(name) {
		return fmt.Errorf("%s is not the name of a namespace; write at most 63 small letters, digits or '-', a letter or digit first and last", shape.Quote(name))
	}
	return nil
}

// user is who makes a change.
func (s *Cluster) user(ctx context.Context) (string, error) {
	// The proxy of a rack speaks for all of its users.
	if s.client.ThroughRack() {
		return s.who, nil
	}
	name, err := s.client.Whoami(ctx)
	// API servers before 1.28 cannot be asked, and some do not let everybody ask.
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return s.who, nil
	}
	return name, err
}

// The labels and annotations of the objects. Names of racks are no names of objects, and so stand in an annotation.
const (
	managedByLabel      = "app.kubernetes.io/managed-by"
	rackLabel           = "convox.io/rack-params" // a digest of the rack's name
	rackAnnotation      = "convox.io/rack"
	providerAnnotation  = "convox.io/provider"
	terraformAnnotation = "convox.io/terraform"
	secretAnnotation    = "convox.io/rack-secret" // the name of the Secret that counts
)

// clusterTimeout is how long a change is tried.
const clusterTimeout = 90 * time.Second

// clusterRack is a rack as it was read.
type clusterRack struct {
	Rack
	object *unstructured.Unstructured
	// secret is the name of the Secret, and inSecret what it holds.
	secret   string
	inSecret map[string]string
	history  []Entry
}

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

// Overview reads a rack without its Secret.
func (s *Cluster) Overview(name string) (Rack, error) {
	rack, err := s.readPlain(context.Background(), name)
	if err != nil {
		return Rack{}, err
	}
	return rack.Rack, nil
}

// History returns what changed a rack.
func (s *Cluster) History(name string) ([]Entry, error) {
	rack, err := s.readPlain(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return rack.history, nil
}

// Switch makes a rack the current one.
func (s *Cluster) Switch(name string) error {
	if _, err := s.Overview(name); err != nil {
		return err
	}
	return s.choose(name)
}

// errReplaced says that the Secret that a ConfigMap names has gone, which it does when another takes its place.
var errReplaced = errors.New("its Secret is gone")

// read reads a rack: its ConfigMap, and the Secret that it names.
func (s *Cluster) read(ctx context.Context, name string) (*clusterRack, error) {
	missing := ""
	for {
		rack, err := s.readPlain(ctx, name)
		if err != nil {
			return nil, err
		}
		if err := s.addSecret(ctx, rack); !errors.Is(err, errReplaced) {
			return rack, err
		}
		// Named by the same version as before, it is missing and not replaced.
		if rack.object.GetResourceVersion() == missing {
			return nil, fmt.Errorf("the rack %s: the Secret %s in the namespace %s is gone, and with it the sensitive parameters; restore it, or take the annotation %s off the ConfigMap %s and set them again",
				name, rack.secret, s.namespace, secretAnnotation, rack.object.GetName())
		}
		missing = rack.object.GetResourceVersion()
	}
}

// readPlain reads the ConfigMap of a rack.
func (s *Cluster) readPlain(ctx context.Context, name string) (*clusterRack, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	object, err := s.client.ConfigMaps(s.namespace).Get(ctx, objectName(name))
	if apierrors.IsNotFound(err) {
		return nil, s.notFound(name)
	}
	if err != nil {
		return nil, err
	}
	annotations := object.GetAnnotations()
	if !isOurs(object, name) {
		return nil, s.damaged("ConfigMap", object.GetName(), fmt.Sprintf("its label %s or its annotation %s is not that of the rack %s", rackLabel, rackAnnotation, name))
	}
	values, history, err := decodeData(object)
	if err != nil {
		return nil, s.damaged("ConfigMap", object.GetName(), err.Error())
	}
	rack := &clusterRack{object: object, secret: annotations[secretAnnotation], history: history}
	rack.Name, rack.Terraform = name, annotations[terraformAnnotation] == "true"
	if rack.Rack.Rack, err = params.NewRack(annotations[providerAnnotation], values); err != nil {
		return nil, fmt.Errorf("the rack %s: %w", name, err)
	}
	return rack, nil
}

// isOurs reports whether an object is one of a rack. Nothing else is read, and nothing else deleted.
func isOurs(object *unstructured.Unstructured, name string) bool {
	return object.GetLabels()[rackLabel] == rackID(name) && object.GetAnnotations()[rackAnnotation] == name
}

func (s *Cluster) damaged(kind, name, says string) error {
	return fmt.Errorf("the %s %s in the namespace %s is damaged: %s; it is left as it is, mend it or restore it", kind, name, s.namespace, says)
}

// addSecret adds to a rack what its Secret holds.
func (s *Cluster) addSecret(ctx context.Context, rack *clusterRack) error {
	if rack.secret == "" {
		return nil
	}
	if !strings.HasPrefix(rack.secret, rack.object.GetName()+"-") {
		return s.damaged("ConfigMap", rack.object.GetName(), fmt.Sprintf("its annotation %s names %s, which is no Secret of the rack", secretAnnotation, shape.Quote(rack.secret)))
	}
	secret, err := s.client.Secrets(s.namespace).Get(ctx, rack.secret)
	if apierrors.IsNotFound(err) {
		return errReplaced
	}
	if err != nil {
		return err
	}
	if !isOurs(secret, rack.Name) {
		return s.damaged("Secret", rack.secret, fmt.Sprintf("its label %s or its annotation %s is not that of the rack %s", rackLabel, rackAnnotation, rack.Name))
	}
	data, _, err := unstructured.NestedStringMap(secret.Object, "data")
	if err != nil {
		return s.damaged("Secret", rack.secret, "its data is not a map of strings")
	}
	values := rack.Stored()
	rack.inSecret = map[string]string{}
	for name, encoded := range data {
		value, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return s.damaged("Secret", rack.secret, fmt.Sprintf("the value of %s is not base64", shape.Quote(name)))
		}
		rack.inSecret[name] = string(value)
		if _, plain := values[name]; !plain {
			values[name] = string(value)
		}
	}
	rack.Rack.Rack, err = params.NewRack(rack.Provider.String(), values)
	return err
}

func (s *Cluster) notFound(name string) error {
	names, err := s.Names()
	// Whoever may read a rack may not always list them.
	if err != nil && !kube.IsDenied(err) {
		return err
	}
	return &NotFoundError{Name: name, Known: names}
}

// Create stores a rack.
func (s *Cluster) Create(rack Rack) error {
	if err := CheckName(rack.Name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), clusterTimeout)
	defer cancel()
	who, err := s.user(ctx)
	if err != nil {
		return err
	}
	blank := &clusterRack{Rack: rack, object: &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}}
	blank.object.SetName(objectName(rack.Name))
	blank.object.SetLabels(labels(rack.Name))
	annotations := map[string]string{rackAnnotation: rack.Name, providerAnnotation: rack.Provider.String()}
	if rack.Terraform {
		annotations[terraformAnnotation] = "true"
	}
	blank.object.SetAnnotations(annotations)
	err = s.write(ctx, blank, rack.Stored(), newEntry(who, nil, rack.Stored()), func(object *unstructured.Unstructured) error {
		return s.client.ConfigMaps(s.namespace).Create(ctx, object)
	})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the rack %s is there already, as the ConfigMap %s in the namespace %s; choose another name, or look at it first", rack.Name, objectName(rack.Name), s.namespace)
	}
	return err
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
		entry := newEntry(who, before, values)
		if len(entry.Changes) == 0 {
			return nil
		}
		if err := conflict(base, current, entry); err != nil {
			return err
		}
		err = s.write(ctx, current, values, entry, func(object *unstructured.Unstructured) error {
			return s.client.ConfigMaps(s.namespace).Update(ctx, object)
		})
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Errorf("the rack %s was deleted at the same time; nothing is stored", name)
		case !apierrors.IsConflict(err):
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the rack %s was changed by others again and again for %s; try again", name, clusterTimeout)
		case <-time.After(mathrand.N(pause)):
		}
		if err := s.client.Persist(ctx, func() error { current, err = s.read(ctx, name); return err }); err != nil {
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
// does. What fails while the API server is away is tried again. Where an answer was lost, the history tells whether the change is
// stored already.
func (s *Cluster) write(ctx context.Context, rack *clusterRack, values map[string]string, entry Entry, commit func(*unstructured.Unstructured) error) error {
	plain, secret := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		switch {
		case !params.IsName(name):
			return fmt.Errorf("%s is not the name of a parameter, and cannot be kept in a cluster", shape.Quote(name))
		case params.MayBeSecret(name):
			secret[name] = value
		default:
			plain[name] = value
		}
	}
	object := rack.object.DeepCopy()
	object.SetManagedFields(nil)
	if err := encodeData(object, plain, append(slices.Clone(rack.history), entry)); err != nil {
		return err
	}
	keep := rack.secret
	if !maps.Equal(secret, rack.inSecret) {
		keep = ""
		if len(secret) > 0 {
			keep = rack.object.GetName() + "-" + strings.ToLower(rand.Text()[:10])
			if err := s.createSecret(ctx, rack, keep, secret); err != nil {
				return err
			}
		}
		annotations := object.GetAnnotations()
		annotations[secretAnnotation] = keep
		object.SetAnnotations(annotations)
	}
	err := s.client.Persist(ctx, func() error {
		err := commit(object)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			// It may be ours. While that cannot be told, neither can what became of the change.
			there, readErr := s.readPlain(ctx, rack.Name)
			switch {
			case kube.IsPassing(readErr):
				return readErr
			case readErr == nil && there.has(entry):
				return nil
			}
		}
		return err
	})
	// As long as the change may still come to be, so may its Secret.
	if keep != rack.secret && !kube.IsPassing(err) {
		s.deleteSecrets(ctx, rack, keep)
	}
	return err
}

func (s *Cluster) createSecret(ctx context.Context, rack *clusterRack, name string, values map[string]string) error {
	data := map[string]any{}
	for name, value := range values {
		data[name] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "immutable": true, "data": data,
	}}
	secret.SetName(name)
	secret.SetLabels(labels(rack.Name))
	secret.SetAnnotations(map[string]string{rackAnnotation: rack.Name})
	return s.client.Persist(ctx, func() error {
		err := s.client.Secrets(s.namespace).Create(ctx, secret)
		if apierrors.IsAlreadyExists(err) { // an answer was lost
			return nil
		}
		return err
	})
}

// abandonedAfter is by how much a Secret that the ConfigMap does not name is older than a new one when no writer can be about to
// name it any more. Both times are the API server's.
const abandonedAfter = 10 * time.Minute

// deleteSecrets deletes, of the Secrets of a rack, the one that a change replaced, the one that was made for a change that did not
// come to be, and those that writers left who did not come to the end; but never the one that the ConfigMap names now. What cannot
// be deleted now is by a later writer. A reader who still knows the old one reads the ConfigMap again.
func (s *Cluster) deleteSecrets(ctx context.Context, before *clusterRack, made string) {
	secrets, err := s.secretsOf(ctx, before.Name)
	if err != nil {
		return
	}
	// Read after the list was: what is named later has been made later too.
	named := ""
	now, err := s.client.ConfigMaps(s.namespace).Get(ctx, objectName(before.Name))
	switch {
	case err == nil:
		named = now.GetAnnotations()[secretAnnotation]
	case !apierrors.IsNotFound(err):
		return
	}
	var newest time.Time
	for _, secret := range secrets {
		if at := secret.GetCreationTimestamp().Time; at.After(newest) {
			newest = at
		}
	}
	for _, secret := range secrets {
		name := secret.GetName()
		abandoned := newest.Sub(secret.GetCreationTimestamp().Time) > abandonedAfter
		if name != named && (abandoned || name == before.secret || name == made) {
			_ = s.client.Secrets(s.namespace).Delete(ctx, name, "")
		}
	}
}

// secretsOf lists the Secrets of a rack.
func (s *Cluster) secretsOf(ctx context.Context, name string) ([]unstructured.Unstructured, error) {
	secrets, err := s.client.Secrets(s.namespace).List(ctx, rackLabel+"="+rackID(name))
	// Asked again of each, since all that follows from it is deletion.
	return slices.DeleteFunc(secrets, func(secret unstructured.Unstructured) bool { return !isOurs(&secret, name) }), err
}

// Delete forgets a rack, and then its Secrets. Called again, it deletes those that could not be deleted the first time.
func (s *Cluster) Delete(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), clusterTimeout)
	defer cancel()
	rack, err := s.readPlain(ctx, name)
	var none *NotFoundError
	if err != nil && !errors.As(err, &none) {
		return err
	}
	// Before the ConfigMap goes, so that whoever may not do this leaves all as it is; those of a rack that is made anew come later.
	secrets, err := s.secretsOf(ctx, name)
	if err != nil {
		return err
	}
	if rack == nil && len(secrets) == 0 {
		return none
	}
	if rack != nil {
		err := s.client.Persist(ctx, func() error {
			return s.client.ConfigMaps(s.namespace).Delete(ctx, rack.object.GetName(), rack.object.GetResourceVersion())
		})
		if apierrors.IsConflict(err) {
			return fmt.Errorf("the rack %s was changed at the same time, and is not deleted; look at it, and delete it again if that is still meant", name)
		}
		if err != nil && !apierrors.IsNotFound(err) { // it is gone
			return err
		}
	}
	var failed error
	for _, secret := range secrets {
		err := s.client.Persist(ctx, func() error {
			return s.client.Secrets(s.namespace).Delete(ctx, secret.GetName(), secret.GetResourceVersion())
		})
		if err != nil && !apierrors.IsNotFound(err) {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return fmt.Errorf("the rack %s is forgotten, but not all of its Secrets in the namespace %s; delete it once more when that is mended: %w", name, s.namespace, failed)
	}
	return s.forget(name)
}
