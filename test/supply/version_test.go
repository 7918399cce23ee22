package main

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/api/openapi"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Everything that is released has the same version. scripts/release writes it.
func TestOneVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, pattern string
		count         int
	}{
		{"../../api/openapi.json", `(?m)^    "version": "(.*)",$`, 1},
		{"../../clients/typescript/package.json", `(?m)^  "version": "(.*)",$`, 1},
		{"../../clients/typescript/package-lock.json", `"name": "pressroom-client",\s+"version": "(.*)",`, 2},
		{"../../clients/python/pyproject.toml", `(?m)^version = "(.*)"$`, 1},
		{"../../examples/import-pictures/package-lock.json", `"name": "pressroom-client",\s+"version": "(.*)",`, 1},
		{"../../server.json", `(?m)^  "version": "(.*)",$`, 1},
		{"../../server.json", `"identifier": "ghcr.io/OWNER/pressroom:(.*)"`, 1},
		{"../../integrations/mcpb/manifest.json", `(?m)^  "version": "(.*)",$`, 1},
		{"../../integrations/n8n-nodes-pressroom/package.json", `(?m)^  "version": "(.*)",$`, 1},
		{"../../deploy/helm/pressroom/Chart.yaml", `(?m)^(?:version|appVersion): "(.*)"$`, 2},
	} {
		var found []string
		for _, match := range regexp.MustCompile(tt.pattern).FindAllStringSubmatch(string(must.Get(os.ReadFile(tt.file))(t)), -1) {
			found = append(found, match[1])
		}
		if len(found) != tt.count || slices.ContainsFunc(found, func(v string) bool { return v != openapi.Version }) {
			t.Errorf("%s has the versions %q, want %s %d times", tt.file, found, openapi.Version, tt.count)
		}
	}
}
