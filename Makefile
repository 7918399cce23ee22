# Commands for development and continuous integration.
SHELL := bash
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help run build test test-quick test-race test-tools check generate update-descriptions bench bench-quick screenshots growth storm storm-posts fuzz sbom site reproduce clean

DURATION ?= 15m
TAG ?= $(shell git describe --tags --exact-match --match "v*" 2>/dev/null)

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-20s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: build ## Build and start pressroom with a demo team and sandbox networks (ARGS="--addr 127.0.0.1:9000")
	bin/pressroom quickstart $(ARGS)

build: ## Build bin/pressroom
	go build -trimpath $(BUILDFLAGS) -ldflags "-s -w -X main.tag=$(TAG)" -o bin/pressroom ./cmd/pressroom

test: ## Run every test on SQLite and PostgreSQL
	scripts/test-tools & tools=$$!; scripts/test compile && wait $$tools
	scripts/with-postgres scripts/test compiled

test-quick: ## Run the tests that need only Go, on SQLite
	env -u CI -u PRESSROOM_TEST_POSTGRES go test -short ./... pressroom.example/pressroom/client

test-race: test-tools ## Run the tests of the whole program with the race detector
	scripts/with-postgres go test -race ./test/e2e ./test/program

test-tools: ## Install missing test dependencies
	scripts/test-tools

check: ## Run the linters and check generated files, dependencies, the OpenAPI document and deploy/
	scripts/check

generate: ## Regenerate the OpenAPI document, the recorded MCP sessions and the clients
	go test ./internal/api/openapi ./internal/api/mcp -update
	go test ./internal/tools/clientgen -update
	go test ./internal/api/openapi -run TestGolden -update # with the clients' code samples

update-descriptions: ## Update the networks' API descriptions that the adapters are tested with (ARGS="-from FOLDER")
	go run ./internal/tools/descriptions $(ARGS)

bench: ## Run the benchmarks against bare handlers and write build/bench.json
	scripts/with-postgres go run ./bench
	go test -run '^$$' -bench Upload -benchtime 9x ./test/upload
	scripts/with-postgres go test -run '^$$' -bench Pages -benchtime 30x ./test/app
	scripts/with-postgres go test -run '^$$' -bench Rush -benchtime 1x ./test/networks
	go test -run '^$$' -bench Crowd -benchtime 1x ./test/tools

screenshots: ## Make the screenshots of the README and the front page from the demo team
	SCREENSHOTS=docs/images go test ./test/browser -run TestScreenshots -count=1

growth: ## Compare lists, searches and reports on years of data with a hundredth of it (1 hour, 40 GB)
	POSTGRES_FOLDER=build scripts/with-postgres go run ./bench -years -out build/growth.json

storm: ## Run clients against failing nodes on each database, then audit every promise (DURATION=15m)
	CI=true PRESSROOM_STORM=$(DURATION) go test ./test/storm -run TestStorm -count=1 -timeout 24h -v

storm-posts: ## Publish 2,000 posts while nodes are killed and networks fail, then count them at the networks
	PRESSROOM_STORM_POSTS=2000 scripts/with-postgres go test ./test/networks -run TestStorm -count=1 -timeout 20m -v

fuzz: ## Send 100,000 random requests made from the OpenAPI document (PRESSROOM_FUZZ_SEED=1 repeats them)
	PRESSROOM_FUZZ=$${PRESSROOM_FUZZ:-100000} scripts/with-postgres go test ./test/fuzz -run TestRequests -count=1 -timeout 3h -v

sbom: build ## Write the bill of materials of bin/pressroom to build/pressroom.cdx.json (CycloneDX)
	@mkdir -p build
	go run ./test/supply bill bin/pressroom >build/pressroom.cdx.json

site: ## Write the documentation as a static site with search to build/site
	go run ./internal/tools/site build/site

reproduce: ## Build the last commit twice from scratch and compare the bytes
	scripts/reproduce

bench-quick: ## Run the benchmarks in under a minute, on small tables
	scripts/with-postgres go run ./bench -quick

clean: ## Remove build output
	rm -rf bin build
