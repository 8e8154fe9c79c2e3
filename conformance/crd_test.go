package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	namevalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/karpenter/pkg/apis"
	"sigs.k8s.io/yaml"
)

// crd is one version of the NodePool CRD, ready to answer as an API server does that has it installed.
type crd struct {
	name       string
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// admission is what the API server makes of a new object.
type admission struct {
	// Pruned are the paths of the fields that it drops because the CRD does not know them.
	Pruned []string
	// Stored is the object as it is kept, with the defaults filled in.
	Stored map[string]any
	// Changed is set when Stored differs from what was sent, by pruning, by dropped nulls or by defaults.
	Changed bool
	// Errors are the reasons to refuse it; there are none when it is stored.
	Errors field.ErrorList
}

// The versions of the CRD that a NodePool of a rack has to pass.
const (
	karpenterNewest = "Karpenter 1.15"
	karpenter114    = "Karpenter 1.14"
	// karpenter113 is what racks at 3.25.x run, and awsProvider the same with the label rules of the AWS provider, which
	// installs its own CRD.
	karpenter113 = "Karpenter 1.13"
	awsProvider  = "the AWS provider 1.13.1"
)

// nodePoolCRDFile is where modules keep the CRD.
const nodePoolCRDFile = "pkg/apis/crds/karpenter.sh_nodepools.yaml"

const awsProviderModule = "github.com/aws/karpenter-provider-aws@v1.13.1"

// crds has the CRD in every version, those of racks first.
var crds = sync.OnceValues(func() ([]*crd, error) {
	var all []*crd
	for _, version := range []struct{ name, module string }{
		{awsProvider, awsProviderModule},
		{karpenter113, "sigs.k8s.io/karpenter@v1.13.0"},
		{karpenter114, "sigs.k8s.io/karpenter@v1.14.0"},
		{karpenterNewest, ""},
	} {
		text := apis.NodePoolCRD
		if version.module != "" {
			var err error
			if text, err = moduleFile(version.module, nodePoolCRDFile); err != nil {
				return nil, err
			}
		}
		compiled, err := newCRD(version.name, text)
		if err != nil {
			return nil, fmt.Errorf("the CRD of %s: %w", version.name, err)
		}
		all = append(all, compiled)
	}
	return all, nil
})

// findCRD returns the CRD of a version.
func findCRD(name string) (*crd, error) {
	all, err := crds()
	for _, crd := range all {
		if crd.name == name {
			return crd, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("no CRD of %s", name))
}

// newCRD compiles a CRD the way the API server does.
func newCRD(name string, text []byte) (*crd, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, err
	}
	if n := len(definition.Spec.Versions); n != 1 || definition.Spec.Versions[0].Name != "v1" {
		return nil, fmt.Errorf("it has %d versions and not v1 alone", n)
	}
	var internal apiextensions.JSONSchemaProps
	external := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(external, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	schema, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, err
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	if rules == nil {
		return nil, errors.New("it has no CEL rules")
	}
	return &crd{name, structural, schema, rules}, nil
}

// create returns what the API server makes of a new object, which stays as it is.
func (c *crd) create(object map[string]any) admission {
	stored := runtime.DeepCopyJSON(object)
	pruned := pruning.PruneWithOptions(stored, c.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(stored, c.structural)
	defaulting.Default(stored, c.structural)
	return admission{Pruned: pruned, Stored: stored, Changed: !reflect.DeepEqual(object, stored), Errors: c.validate(stored)}
}

// validate returns the reasons to refuse an object, in the order in which the API server looks for them.
func (c *crd) validate(object map[string]any) field.ErrorList {
	var errs field.ErrorList
	if object["apiVersion"] != "karpenter.sh/v1" || object["kind"] != "NodePool" {
		errs = append(errs, field.Invalid(field.NewPath("kind"), object["kind"], "must be a NodePool of karpenter.sh/v1"))
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if name == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "name"), "an object needs a name"))
	}
	for _, problem := range namevalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, problem))
	}
	errs = append(errs, validation.ValidateCustomResource(nil, object, c.schema)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structural, object)...)
	if len(errs) > 0 {
		return errs // the rules expect an object that fits the schema
	}
	broken, _ := c.rules.Validate(context.Background(), nil, c.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return broken
}

// budgetPattern returns the CRD's pattern for a field of a disruption budget.
func (c *crd) budgetPattern(name string) string {
	disruption := c.structural.Properties["spec"].Properties["disruption"]
	return disruption.Properties["budgets"].Items.Properties[name].ValueValidation.Pattern
}
