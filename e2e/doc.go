// Package e2e tests the program against a real Kubernetes API server with Karpenter's CRDs.
//
// The scripts in testdata/script are transcripts: what a user types and gets, and what the API server makes of it. The
// package is a module of its own because it requires Kubernetes and etcd, from whose source package cluster builds the
// servers. The first run does that and takes some minutes; on a slow machine, give it more than go test's ten with
// -timeout 40m.
package e2e
