package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// resource is a kind of object that the API server serves.
type resource struct {
	group, version, plural, singular, kind string
	namespaced                             bool
}

// path is where the object of a name is, or all of them where the name is empty.
func (r resource) path(namespace, name string) string {
	path := "/apis/" + r.group + "/" + r.version
	if r.group == "" {
		path = "/api/" + r.version
	}
	if r.namespaced && namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	path += "/" + r.plural
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	return path
}

// isCalled reports whether a word means the resource: a plural such as "nodepools", a singular, a kind, or one of them
// with the group, as in "nodepools.karpenter.sh".
func (r resource) isCalled(word string) bool {
	name, group, withGroup := strings.Cut(word, ".")
	if withGroup && group != r.group {
		return false
	}
	return name == r.plural || strings.EqualFold(name, r.singular) || strings.EqualFold(name, r.kind)
}

// resource finds the resource that a word means.
func (c Client) resource(ctx context.Context, word string) (resource, error) {
	return c.findResource(ctx, word, func(r resource) bool { return r.isCalled(word) })
}

// resourceOf finds the resource of an object.
func (c Client) resourceOf(ctx context.Context, object Object) (resource, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	return c.findResource(ctx, apiVersion+" "+kind, func(r resource) bool {
		return r.group == group && r.version == version && r.kind == kind
	})
}

func (c Client) findResource(ctx context.Context, what string, isIt func(resource) bool) (resource, error) {
	all, err := c.resources(ctx)
	if err != nil {
		return resource{}, err
	}
	for _, r := range all {
		if isIt(r) {
			return r, nil
		}
	}
	return resource{}, fmt.Errorf("the API server serves no %s", what)
}

// resources lists what the API server serves now, a group's preferred version first.
func (c Client) resources(ctx context.Context) ([]resource, error) {
	var all []resource
	for _, path := range []string{"/api", "/apis"} {
		const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
		answer, err := c.do(ctx, request{path: path, accept: accept})
		if err != nil {
			return nil, err
		}
		var list groupList
		if err := json.Unmarshal(answer.body, &list); err != nil {
			return nil, err
		}
		all = append(all, list.resources()...)
	}
	return all, nil
}

// groupList is what is needed of an APIGroupDiscoveryList.
type groupList struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Resources []struct {
				Resource, SingularResource, Scope string
				ResponseKind                      struct{ Kind string }
			}
		}
	}
}

func (l groupList) resources() []resource {
	var all []resource
	for _, group := range l.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				all = append(all, resource{
					group: group.Metadata.Name, version: version.Version, plural: r.Resource, singular: r.SingularResource,
					kind: r.ResponseKind.Kind, namespaced: r.Scope == "Namespaced",
				})
			}
		}
	}
	return all
}
