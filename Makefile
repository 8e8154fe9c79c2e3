# The version that the binary tells: the nearest tag, or the commit where there is none.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X rackparams/pkg/cli.version=$(VERSION)

.PHONY: build test conformance e2e demo lint bench

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/convox ./cmd/convox

test: conformance
	go test ./...

# The conformance module needs the Go release that Karpenter needs, which may be newer than the machine's; the go
# command fetches it.
conformance:
	cd conformance && GOTOOLCHAIN=auto go test -timeout 30m ./...

# Against a real API server, which the first run builds from its source: that takes some minutes.
e2e:
	cd e2e && GOTOOLCHAIN=auto go vet ./... && GOTOOLCHAIN=auto go test -timeout 40m ./...

demo: build
	@testdata/demo.sh bin/convox

lint:
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	go tool staticcheck ./...
	cd conformance && GOTOOLCHAIN=auto go vet ./...

bench:
	go test -run '^$$' -bench . ./...
	cd conformance && GOTOOLCHAIN=auto go test -run '^$$' -bench . .
