# The version that the binary tells: the nearest tag, or the commit where there is none.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X rackparams/pkg/cli.version=$(VERSION)

.PHONY: build test conformance demo lint bench

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/convox ./cmd/convox

test: conformance
	go test ./...

# The conformance module needs the Go release that Karpenter needs, which may be newer than the machine's; the go
# command fetches it.
conformance:
	cd conformance && GOTOOLCHAIN=auto go test ./...

demo: build
	@testdata/demo.sh bin/convox

lint:
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	cd conformance && GOTOOLCHAIN=auto go vet ./...

bench:
	go test -run '^$$' -bench . ./...
