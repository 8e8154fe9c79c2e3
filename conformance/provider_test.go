package conformance

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime/debug"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	karpenterv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// awsDomain is the label domain of the AWS provider, which its controller keeps for the labels that it knows.
const awsDomain = "karpenter.k8s.aws"

// TestMain makes Karpenter's code here what it is in the controller that racks run: with the labels of the AWS provider.
func TestMain(m *testing.M) {
	// Karpenter reads a budget's count by a function that logs a stack trace for each one that wraps.
	klog.SetLogger(logr.Discard())
	// The validators leave much behind, and memory is not what the tests wait for.
	debug.SetGCPercent(400)
	if err := registerAWSLabels(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// registerAWSLabels does what the AWS provider does to Karpenter when it starts: NodePool.RuntimeValidate refuses the
// labels of its domain except for those that it knows.
func registerAWSLabels() error {
	labels, err := awsLabels()
	if err != nil {
		return fmt.Errorf("reading the labels of the AWS provider: %w", err)
	}
	karpenterv1.RestrictedLabelDomains.Insert(awsDomain)
	karpenterv1.WellKnownLabels.Insert(labels...)
	karpenterv1.WellKnownValuesForRequirements[awsDomain+"/instance-tenancy"] = sets.New("dedicated", "default")
	return nil
}

// awsLabels reads, from the source of the AWS provider, which labels of its domain it makes known to Karpenter.
func awsLabels() ([]string, error) {
	source, err := moduleFile(awsProviderModule, "pkg/apis/v1/labels.go")
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), "labels.go", source, 0)
	if err != nil {
		return nil, err
	}
	constants := awsConstants(file)
	var labels []string
	ast.Inspect(file, func(node ast.Node) bool {
		call, isCall := node.(*ast.CallExpr)
		if !isCall || !isInsertInto(call.Fun, "WellKnownLabels") {
			return true
		}
		for _, argument := range call.Args {
			if name, isName := argument.(*ast.Ident); isName && constants[name.Name] != "" {
				labels = append(labels, constants[name.Name])
			}
		}
		return true
	})
	if len(labels) == 0 {
		return nil, errors.New("it names none")
	}
	return labels, nil
}

// awsConstants returns the names in a file that are declared as apis.Group + "/...".
func awsConstants(file *ast.File) map[string]string {
	constants := map[string]string{}
	ast.Inspect(file, func(node ast.Node) bool {
		spec, isValue := node.(*ast.ValueSpec)
		if !isValue || len(spec.Values) != 1 {
			return true
		}
		sum, isSum := spec.Values[0].(*ast.BinaryExpr)
		if !isSum {
			return true
		}
		group, isSelector := sum.X.(*ast.SelectorExpr)
		suffix, isText := sum.Y.(*ast.BasicLit)
		if isSelector && isText && group.Sel.Name == "Group" && fmt.Sprint(group.X) == "apis" {
			constants[spec.Names[0].Name] = awsDomain + suffix.Value[1:len(suffix.Value)-1]
		}
		return true
	})
	return constants
}

// isInsertInto reports whether a function is the Insert method of a set of that name.
func isInsertInto(function ast.Expr, set string) bool {
	method, isMethod := function.(*ast.SelectorExpr)
	if !isMethod || method.Sel.Name != "Insert" {
		return false
	}
	receiver, isSelector := method.X.(*ast.SelectorExpr)
	return isSelector && receiver.Sel.Name == set
}
