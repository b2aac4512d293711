# make help lists the targets. Everything a target needs from the system is installed first (scripts/setup).
.DEFAULT_GOAL := help
.PHONY: help build run test test-long check bench clean setup

VERSION = $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
GOBUILD = go build -trimpath -ldflags '-X main.version=$(VERSION)'
GOTEST  = HEADROOM_SOLVER='$(CURDIR)/bin/headroom-solver' go test

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup:
	@scripts/setup

build: setup ## build bin/headroom and bin/headroom-solver
	CGO_ENABLED=0 $(GOBUILD) -o bin/headroom ./cmd/headroom
	CGO_ENABLED=1 $(GOBUILD) -o bin/headroom-solver ./cmd/headroom-solver

run: build ## build and solve an example
	bin/headroom solve openapi/examples/nightly-etl.json

test: build ## run the tests
	$(GOTEST) ./...

test-long: build ## run the tests with every large sample (up to an hour)
	HEADROOM_LONG=1 $(GOTEST) -timeout 60m ./...

check: setup ## format, vet, staticcheck, who imports whom, modules
	@test -z "$$(gofmt -l $$(go list -f '{{.Dir}}' ./...))" || { gofmt -d $$(go list -f '{{.Dir}}' ./...); exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go test ./internal
	go mod verify

# BENCH passes options on: make bench BENCH='-families hard -markdown'; -help lists them.
bench: build ## compare with CBC, GLPK and HiGHS on seeded instances (installs them)
	@scripts/setup bench
	HEADROOM_SOLVER='$(CURDIR)/bin/headroom-solver' go run ./cmd/bench $(BENCH)

clean: ## remove what was built
	rm -rf bin
