# The version that the binary tells: the nearest tag, or the commit where there is none.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X rackparams/pkg/cli.version=$(VERSION)

# The race detector needs a C compiler, without which the go command turns cgo off.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)

# How long each fuzz target runs.
FUZZTIME ?= 1m

PLATFORMS = linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: build test conformance e2e demo lint cross fuzz vuln bench docs

build:
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/convox ./cmd/convox

test: conformance
	go test $(RACE) ./...

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

# Builds and vets for every platform that a release is for.
cross:
	@for platform in $(PLATFORMS); do \
		echo $$platform; \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		go vet ./... && go build -trimpath -ldflags "$(LDFLAGS)" -o bin/$$GOOS-$$GOARCH/ ./cmd/convox || exit 1; \
	done

fuzz:
	@for file in $$(grep -rl '^func Fuzz' --include='*_test.go' cmd params pkg render); do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' $$file); do \
			echo "$$target in $$(dirname $$file)"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$(dirname $$file) || exit 1; \
		done; \
	done

# Apart from lint: it asks a database of vulnerabilities that not every machine can reach.
vuln:
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

bench:
	go test -run '^$$' -bench . ./...
	cd conformance && GOTOOLCHAIN=auto go test -run '^$$' -bench . .

# The pages that are made from the commands and the catalog, and the manual pages into bin/man.
docs:
	UPDATE_SCRIPTS=1 go test ./pkg/cli -run 'TestPages|TestReference|TestCommandsPage|TestPicture|TestDependencies' >/dev/null
	go run ./cmd/manpages bin/man
