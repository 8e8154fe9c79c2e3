// Package conformance holds every answer of rackparams about NodePools and disruption budgets against Karpenter's own
// code and CRDs. It has tests only.
//
// It is a module of its own, so that Karpenter, the AWS provider and kubeconform stay out of the program. Nothing of Karpenter
// is copied here: the CRD, the types and the rules come from the module sigs.k8s.io/karpenter, and those of the versions
// that racks run today from the module cache, since one module cannot require two versions of another.
//
// The inputs are generated. Each test logs its seed; CONFORMANCE_SEED repeats a run.
package conformance
