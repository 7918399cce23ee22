# Everything that is done with this repository, by hand or by machine.
SHELL := bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run build test test-quick test-race test-tools check generate bench bench-quick growth storm storm-posts fuzz sbom reproduce clean

DURATION ?= 15m
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build pressroom and try it: a demo team with sandbox networks (ARGS="--addr 127.0.0.1:9000")
	bin/pressroom quickstart $(ARGS)

build: ## Build bin/pressroom
	go build -trimpath $(BUILDFLAGS) -ldflags "-X main.version=$(VERSION)" -o bin/pressroom ./cmd/pressroom

test: ## Run every test on SQLite and PostgreSQL, against a genuine Bluesky server too
	scripts/test-tools & tools=$$!; scripts/test compile && wait $$tools
	scripts/with-postgres scripts/test

test-quick: ## Run the tests that need nothing but Go, on SQLite alone
	env -u CI -u PRESSROOM_TEST_POSTGRES go test -short ./...

test-race: test-tools ## Run the tests of the whole program with the race detector
	scripts/with-postgres go test -race ./test/e2e ./test/program

test-tools: ## Install what the tests need and this machine lacks
	scripts/test-tools

check: ## Check format, vet, lint, generated files, known vulnerabilities, the API's description and the TypeScript client
	scripts/check

generate: ## Write generated files anew: the API's description, the recorded dialogues and the clients
	go test ./internal/api/openapi ./internal/api/mcp -update
	go test ./internal/tools/clientgen -update

bench: ## Measure against bare handlers and write build/bench.json
	scripts/with-postgres go run ./bench
	go test -run '^$$' -bench Upload -benchtime 9x ./test/upload
	scripts/with-postgres go test -run '^$$' -bench Pages -benchtime 30x ./test/app
	scripts/with-postgres go test -run '^$$' -bench Rush -benchtime 1x ./test/networks
	go test -run '^$$' -bench Crowd -benchtime 1x ./test/tools

growth: ## Fill both databases with years of data and hold every list, search and report against a hundredth of it (an hour, 40 GB)
	POSTGRES_FOLDER=build scripts/with-postgres go run ./bench -years -out build/growth.json

storm: ## Let clients of all kinds use programs that everything happens to, on each database for so long (DURATION=15m), then reckon up
	CI=true PRESSROOM_STORM=$(DURATION) go test ./test/storm -run TestStorm -count=1 -timeout 24h -v

storm-posts: ## Publish 2,000 posts to nine networks while programs are killed and networks fail, then count what they hold
	PRESSROOM_STORM_POSTS=2000 scripts/with-postgres go test ./test/networks -run TestStorm -count=1 -timeout 20m -v

fuzz: ## Send 100,000 requests that the API's description and chance make up to each database (PRESSROOM_FUZZ_SEED=1 for the same ones again)
	PRESSROOM_FUZZ=$${PRESSROOM_FUZZ:-100000} scripts/with-postgres go test ./test/fuzz -run TestRequests -count=1 -timeout 3h -v

sbom: build ## Write what bin/pressroom is made of to build/pressroom.cdx.json (CycloneDX)
	@mkdir -p build
	go run ./test/supply bill bin/pressroom >build/pressroom.cdx.json

reproduce: ## Build the last commit twice, each time from nothing, and compare the bytes
	scripts/reproduce

bench-quick: ## The same in under a minute, on small tables
	scripts/with-postgres go run ./bench -quick

clean: ## Take away what was built
	rm -rf bin build
