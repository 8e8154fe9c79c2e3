package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// CRDs names a set of Karpenter's CRDs. Each has NodePools, NodeClaims and NodeOverlays of that version, and the
// EC2NodeClass of the AWS provider.
type CRDs string

// The sets.
const (
	// NoCRDs is a cluster without Karpenter.
	NoCRDs CRDs = "none"
	// AWSProvider113 is what the AWS provider 1.13.1 installs, and racks at 3.25.x run: Karpenter 1.13 with the label rules
	// of the provider.
	AWSProvider113 CRDs = "aws-1.13.1"
	Karpenter113   CRDs = "karpenter-1.13.0"
	Karpenter115   CRDs = "karpenter-1.15.0"
)

const (
	crdFolder         = "pkg/apis/crds/"
	awsProviderModule = "github.com/aws/karpenter-provider-aws@v1.13.1"
)

// modules are where the CRDs of Karpenter itself come from.
var modules = map[CRDs]string{
	AWSProvider113: awsProviderModule,
	Karpenter113:   "sigs.k8s.io/karpenter@v1.13.0",
	Karpenter115:   "sigs.k8s.io/karpenter@v1.15.0",
}

// definitions reads the CRDs of a set.
func (s CRDs) definitions(ctx context.Context) ([]Object, error) {
	module, known := modules[s]
	if !known {
		return nil, fmt.Errorf("there are no CRDs %q", string(s))
	}
	var all []Object
	for _, file := range []struct{ module, name string }{
		{module, "karpenter.sh_nodepools.yaml"},
		{module, "karpenter.sh_nodeclaims.yaml"},
		{module, "karpenter.sh_nodeoverlays.yaml"},
		{awsProviderModule, "karpenter.k8s.aws_ec2nodeclasses.yaml"},
	} {
		text, err := moduleFile(ctx, file.module, crdFolder+file.name)
		if err != nil {
			return nil, err
		}
		var definition Object
		if err := yaml.Unmarshal(text, &definition); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", file.name, file.module, err)
		}
		all = append(all, definition)
	}
	return all, nil
}

// InstallCRDs has the API server serve a set of CRDs and returns when it does. If it serves another one, that goes first,
// with all its objects: a CRD that is only changed may be served in its old form for a moment, and nothing tells when that
// is over.
func (c *Cluster) InstallCRDs(ctx context.Context, set CRDs) error {
	if c.installed == set {
		return nil
	}
	named := set
	if set == NoCRDs {
		named = AWSProvider113 // all sets have CRDs of the same names
	}
	definitions, err := named.definitions(ctx)
	if err != nil {
		return err
	}
	c.installed = ""
	if err := c.removeCRDs(ctx, definitions); err != nil {
		return err
	}
	if set == NoCRDs {
		return c.waitUntilUnserved(ctx)
	}
	for _, definition := range definitions {
		if _, _, err := c.As(Admin).Apply(ctx, definition, "", ApplyOptions{}); err != nil {
			return fmt.Errorf("installing %s: %w", definition["metadata"], err)
		}
	}
	for _, definition := range definitions {
		if err := c.waitUntilServed(ctx, definition); err != nil {
			return err
		}
	}
	c.installed = set
	return nil
}

const crdResource = "customresourcedefinitions.apiextensions.k8s.io"

func (c *Cluster) removeCRDs(ctx context.Context, definitions []Object) error {
	for _, definition := range definitions {
		_, name := namespaceAndName(definition, "")
		if err := c.As(Admin).Delete(ctx, crdResource, "", name); err != nil && !IsNotFound(err) {
			return err
		}
	}
	for _, definition := range definitions {
		_, name := namespaceAndName(definition, "")
		if err := c.waitUntilRemoved(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// waitUntilRemoved waits until a CRD that is deleted has gone, and pokes the API server now and then: what cleans up there
// sometimes runs into a change by itself, takes it for somebody else's, and waits to be told of it. Any change will do.
func (c *Cluster) waitUntilRemoved(ctx context.Context, name string) error {
	const patience = time.Second
	admin := c.As(Admin)
	lastPoke := time.Now()
	return until(ctx, name+" is removed", func() error {
		_, err := admin.Get(ctx, crdResource, "", name)
		if err == nil && time.Since(lastPoke) > patience {
			lastPoke = time.Now()
			err = admin.annotate(ctx, crdResource, name, "e2e/poked", lastPoke.Format(time.RFC3339Nano))
		}
		switch {
		case IsNotFound(err):
			return nil
		case err == nil:
			return errors.New("it is there")
		}
		return err
	})
}

// waitUntilServed waits until a CRD is established and its resource can be found and listed.
func (c *Cluster) waitUntilServed(ctx context.Context, definition Object) error {
	admin := c.As(Admin)
	_, name := namespaceAndName(definition, "")
	return until(ctx, name+" is served", func() error {
		current, err := admin.Find(ctx, definition, "")
		if err != nil {
			return err
		}
		if !hasCondition(current, "Established") {
			return errors.New("it is not established")
		}
		resource, err := admin.resource(ctx, name)
		if err != nil {
			return err
		}
		// Not do, which would wait a whole second if this is a moment too early.
		_, err = admin.try(ctx, request{path: resource.path("", "")})
		return err
	})
}

// waitUntilUnserved waits until the API server has forgotten what it served of the CRDs, a moment after they are gone.
func (c *Cluster) waitUntilUnserved(ctx context.Context) error {
	return until(ctx, "NodePools are no longer served", func() error {
		for _, plural := range []string{"nodepools", "nodeclaims"} {
			if _, err := c.As(Admin).try(ctx, request{path: "/apis/karpenter.sh/v1/" + plural}); !IsNotFound(err) {
				return errors.New(plural + " still are")
			}
		}
		return nil
	})
}

// hasCondition reports whether a condition of an object is true.
func hasCondition(object Object, name string) bool {
	status, _ := object["status"].(Object)
	conditions, _ := status["conditions"].([]any)
	for _, condition := range conditions {
		condition, _ := condition.(Object)
		if condition["type"] == name && condition["status"] == "True" {
			return true
		}
	}
	return false
}

// RemoveObjects deletes all objects of Karpenter's CRDs.
func (c *Cluster) RemoveObjects(ctx context.Context) error {
	if c.installed == "" {
		return nil
	}
	for _, resource := range []string{"nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "nodeoverlays.karpenter.sh", "ec2nodeclasses.karpenter.k8s.aws"} {
		if err := c.As(Admin).Delete(ctx, resource, "", ""); err != nil {
			return err
		}
	}
	return nil
}
