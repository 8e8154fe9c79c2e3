package fleet

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
)

// Read reads what `kubectl get nodepools,nodeclaims,nodes -o json` prints: Lists of objects, or objects one behind the other.
// Objects of other kinds are passed over. Of a List only one item is in memory at a time, so that a large cluster is none for
// the reader.
func Read(r io.Reader, name string) (*Fleet, error) {
	text := bufio.NewReaderSize(r, 64<<10)
	// Some tools of Windows put a mark before the text.
	if mark, _ := text.Peek(3); string(mark) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	reader := &reader{decoder: json.NewDecoder(text), name: name}
	for values := 0; ; values++ {
		switch err := reader.value(); {
		case err == io.EOF && values > 0:
			reader.fleet.distinct()
			return &reader.fleet, nil
		case err == io.EOF:
			return nil, fmt.Errorf("%s is empty; write into it what `kubectl get nodepools,nodeclaims,nodes -o json` prints", name)
		case err != nil:
			return nil, reader.explain(err)
		}
	}
}

type reader struct {
	decoder *json.Decoder
	name    string
	fleet   Fleet
}

// objectError is what is wrong with one object, which has been named.
type objectError struct{ error }

func (r *reader) explain(err error) error {
	var wrong objectError
	var readError *nodepool.ReadError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong), errors.As(err, &readError):
		return fmt.Errorf("%s: %w", r.name, err)
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errNoObject):
		return fmt.Errorf("%s is not what `kubectl get nodepools,nodeclaims,nodes -o json` prints: %w", r.name, err)
	}
	return fmt.Errorf("reading %s: %w", r.name, err)
}

var errNoObject = errors.New("it holds something that is no object")

// value reads one object, or a List item by item.
func (r *reader) value() error {
	if err := r.open('{'); err != nil {
		return err
	}
	// What is beside the items of a List, and all of another object.
	members := map[string]json.RawMessage{}
	var unnamed []json.RawMessage
	for r.decoder.More() {
		key, err := r.decoder.Token()
		if err != nil {
			return unexpected(err)
		}
		if key == "items" {
			if unnamed, err = r.items(); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := r.decoder.Decode(&value); err != nil {
			return unexpected(err)
		}
		members[key.(string)] = value
	}
	if _, err := r.decoder.Token(); err != nil {
		return unexpected(err)
	}
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	if unnamed == nil {
		return r.object(text, header{})
	}
	// The items of a typed list, such as a NodeList of the API server, leave out what the list says.
	var list header
	if err := json.Unmarshal(text, &list); err != nil {
		return objectError{fmt.Errorf("a list of it is not one of Kubernetes: %s", wrongType(err))}
	}
	list.Kind = strings.TrimSuffix(list.Kind, "List")
	for _, item := range unnamed {
		if err := r.object(item, list); err != nil {
			return err
		}
	}
	return nil
}

// header is what an object says of itself.
type header struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
}

// unexpected is an end of the input where none belongs.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *reader) open(bracket json.Delim) error {
	token, err := r.decoder.Token()
	if err != nil {
		return err
	}
	if token != bracket {
		return errNoObject
	}
	return nil
}

// items reads the items of a list, and returns those that do not say their kind.
func (r *reader) items() (unnamed []json.RawMessage, err error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, unexpected(err)
	}
	if token == nil { // an empty list, as Go writes one
		return nil, nil
	}
	if token != json.Delim('[') {
		return nil, errNoObject
	}
	for r.decoder.More() {
		var item json.RawMessage
		if err := r.decoder.Decode(&item); err != nil {
			return nil, unexpected(err)
		}
		var head header
		if json.Unmarshal(item, &head) == nil && head.Kind == "" {
			unnamed = append(unnamed, item)
			continue
		}
		if err := r.object(item, header{}); err != nil {
			return nil, err
		}
	}
	_, err = r.decoder.Token()
	return unnamed, unexpected(err)
}

// object adds an object to the fleet if it is of one of the kinds. What it does not say of itself is as the list says.
func (r *reader) object(text []byte, list header) error {
	head := header{APIVersion: list.APIVersion, Kind: list.Kind}
	if err := json.Unmarshal(text, &head); err != nil {
		return objectError{fmt.Errorf("an object of it is not one of Kubernetes: %s", wrongType(err))}
	}
	if head.Kind == "" {
		return objectError{errors.New("an object of it does not say its kind")}
	}
	if err := r.fleet.Add(head.APIVersion, head.Kind, func(v any) error { return json.Unmarshal(text, v) }); err != nil {
		return objectError{fmt.Errorf("%s %s: %s", head.Kind, shape.Quote(head.Metadata.Name), wrongType(err))}
	}
	return nil
}

// wrongType says, of a value of the wrong type, where it is and what it is, without the names of this program's types.
func wrongType(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Sprintf("%s is of the type %s, where another one belongs", cmp.Or(wrong.Field, "it"), wrong.Value)
	}
	return err.Error()
}

// distinct keeps of objects of one kind and name the last one.
func (f *Fleet) distinct() {
	f.Pools = lastOfEach(f.Pools, func(p *nodepool.Manifest) string { return p.Name })
	f.Claims = lastOfEach(f.Claims, func(c *NodeClaim) string { return c.Metadata.Name })
	f.Nodes = lastOfEach(f.Nodes, func(n *Node) string { return n.Metadata.Name })
}

func lastOfEach[T any](list []T, name func(T) string) []T {
	last := make(map[string]int, len(list))
	for i, object := range list {
		last[name(object)] = i
	}
	if len(last) == len(list) {
		return list
	}
	var distinct []T
	for i, object := range list {
		if last[name(object)] == i {
			distinct = append(distinct, object)
		}
	}
	return distinct
}

// errNoName says that an object has no name, which no object of a cluster lacks.
var errNoName = errors.New("it has no metadata.name")

// Add adds an object of an API version and a kind, if it is one of those that a fleet has. decode decodes it into a value, as
// JSON has it.
func (f *Fleet) Add(apiVersion, kind string, decode func(v any) error) error {
	karpenter := strings.HasPrefix(apiVersion, nodepool.Group+"/")
	switch {
	case karpenter && kind == nodepool.KindName:
		return f.addPool(apiVersion, decode)
	case karpenter && kind == "NodeClaim":
		claim := &NodeClaim{}
		if err := decode(claim); err != nil {
			return err
		}
		if err := claim.check(); err != nil {
			return err
		}
		f.Claims = append(f.Claims, claim)
	case apiVersion == "v1" && kind == "Node":
		node := &Node{}
		if err := decode(node); err != nil {
			return err
		}
		if node.Metadata.Name == "" {
			return errNoName
		}
		f.Nodes = append(f.Nodes, node)
	}
	return nil
}

func (f *Fleet) addPool(apiVersion string, decode func(v any) error) error {
	var raw json.RawMessage
	if err := decode(&raw); err != nil {
		return err
	}
	// In a list of NodePools each may leave out what it is.
	list, err := json.Marshal(map[string]any{"apiVersion": apiVersion, "kind": nodepool.KindName + "List", "items": []json.RawMessage{raw}})
	if err != nil {
		return err
	}
	for manifest, err := range nodepool.Manifests(bytes.NewReader(list), "NodePool") {
		var unreadable *nodepool.ReadError
		switch {
		case errors.As(err, &unreadable):
			return errors.New(unreadable.Message)
		case err != nil:
			return err
		case manifest.Name == "":
			return errNoName
		}
		f.Pools = append(f.Pools, manifest)
	}
	return nil
}
