package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// server.json follows the rules of the MCP registry's schema (2025-12-11). The release labels the image with the
// name in server.json, as the registry requires.
func TestRegistryEntry(t *testing.T) {
	t.Parallel()
	var entry struct {
		Schema      string `json:"$schema"`
		Name        string
		Title       string
		Description string
		Version     string
		Repository  struct{ URL, Source string }
		Remotes     []struct {
			Type, URL string
			Variables map[string]struct{ Description string }
		}
		Packages []struct {
			RegistryType, Identifier string
			Transport                struct{ Type string }
			PackageArguments         []struct{ Type, Value string }
			EnvironmentVariables     []struct {
				Name                 string
				IsRequired, IsSecret bool
			}
		}
	}
	must.NoError(t, json.Unmarshal(must.Get(os.ReadFile("../../server.json"))(t), &entry))
	if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(entry.Name) || len(entry.Title) > 100 ||
		entry.Description == "" || len(entry.Description) > 100 || entry.Repository.Source != "github" ||
		!strings.HasSuffix(entry.Schema, "/2025-12-11/server.schema.json") {
		t.Errorf("%+v", entry)
	}
	for _, remote := range entry.Remotes {
		if remote.Type != "streamable-http" || !regexp.MustCompile(`^https://\S+/mcp$`).MatchString(remote.URL) {
			t.Errorf("%+v", remote)
		}
		for _, name := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(remote.URL, -1) {
			if remote.Variables[name[1]].Description == "" {
				t.Errorf("the variable %s is not described", name[1])
			}
		}
	}
	image := entry.Packages[0]
	if image.RegistryType != "oci" || !strings.HasSuffix(image.Identifier, ":"+entry.Version) || image.Transport.Type != "stdio" ||
		image.PackageArguments[0].Type != "positional" || image.PackageArguments[0].Value != "mcp" {
		t.Errorf("%+v", image)
	}
	for _, variable := range image.EnvironmentVariables {
		if !variable.IsRequired || variable.IsSecret != (variable.Name == "PRESSROOM_KEY") {
			t.Errorf("%+v", variable)
		}
	}
	label := "io.modelcontextprotocol.server.name=" + strings.Replace(entry.Name, "OWNER", "${{ github.repository_owner }}", 1)
	if !strings.Contains(string(must.Get(os.ReadFile("../../.github/workflows/release.yml"))(t)), label) {
		t.Errorf("the image has no label %s", label)
	}
}

// A bundle contains the program, and its manifest starts the program on the system of the build. The bundle depends
// only on its input.
func TestBundle(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "pressroom")
	must.NoError(t, os.WriteFile(program, []byte("the program"), 0o700))
	for system, want := range map[string]struct{ platform, command string }{
		"linux": {"linux", "server/pressroom"}, "darwin": {"darwin", "server/pressroom"}, "windows": {"win32", "server/pressroom.exe"},
	} {
		var written [2][]byte
		for i := range written {
			file := filepath.Join(t.TempDir(), "pressroom_1.2.3-rc.1_"+system+"_amd64.mcpb")
			must.NoError(t, bundle("../..", program, file))
			written[i] = must.Get(os.ReadFile(file))(t)
		}
		if !bytes.Equal(written[0], written[1]) {
			t.Errorf("%s: two bundles differ", system)
		}
		archive := must.Get(zip.NewReader(bytes.NewReader(written[0]), int64(len(written[0]))))(t)
		contents := map[string]string{}
		for _, f := range archive.File {
			contents[f.Name] = string(must.Get(io.ReadAll(must.Get(f.Open())(t)))(t))
			if f.Name == want.command && f.Mode()&0o111 == 0 {
				t.Errorf("%s is not executable", f.Name)
			}
		}
		var manifest struct {
			Version, Icon string
			Server        struct {
				EntryPoint string `json:"entry_point"`
				Config     struct {
					Command string
					Args    []string
					Env     map[string]string
				} `json:"mcp_config"`
			}
			UserConfig    map[string]struct{ Sensitive, Required bool } `json:"user_config"`
			Compatibility struct{ Platforms []string }
		}
		must.NoError(t, json.Unmarshal([]byte(contents["manifest.json"]), &manifest))
		if manifest.Version != "1.2.3-rc.1" || manifest.Server.EntryPoint != want.command ||
			manifest.Server.Config.Command != "${__dirname}/"+want.command || !slices.Equal(manifest.Server.Config.Args, []string{"mcp"}) ||
			!slices.Equal(manifest.Compatibility.Platforms, []string{want.platform}) {
			t.Errorf("%s: %+v", system, manifest)
		}
		if contents[want.command] != "the program" || contents[manifest.Icon] == "" || contents["LICENSE"] == "" {
			t.Errorf("%s: the bundle has %d files", system, len(contents))
		}
		if !manifest.UserConfig["key"].Sensitive || !manifest.UserConfig["url"].Required ||
			manifest.Server.Config.Env["PRESSROOM_KEY"] != "${user_config.key}" {
			t.Errorf("%s: %+v", system, manifest.UserConfig)
		}
	}
	if err := bundle("../..", program, filepath.Join(t.TempDir(), "pressroom.mcpb")); err == nil {
		t.Error("a bundle without a version was written")
	}
}

// The skill names only tools that exist.
func TestSkill(t *testing.T) {
	t.Parallel()
	skill := string(must.Get(os.ReadFile("../../integrations/skills/pressroom-drafts/SKILL.md"))(t))
	described := string(must.Get(os.ReadFile("../../api/openapi.json"))(t))
	head := regexp.MustCompile(`(?s)^---\nname: ([a-z0-9-]{1,64})\ndescription: ([^\n]+)\n---\n`).FindStringSubmatch(skill)
	if head == nil || head[1] != "pressroom-drafts" || len(head[2]) > 1024 {
		t.Fatalf("the front matter is invalid: %.200s", skill)
	}
	tools := regexp.MustCompile("`((?:get|list|create|update|validate|schedule|publish|retry)_[a-z_]+)`").FindAllStringSubmatch(skill, -1)
	if len(tools) < 10 {
		t.Errorf("the skill names %d tools", len(tools))
	}
	for _, tool := range tools {
		if !strings.Contains(described, `"operationId": "`+tool[1]+`"`) {
			t.Errorf("there is no tool %s", tool[1])
		}
	}
}

// The configurations in the guide are complete, contain the URL of the tools, and contain no key.
func TestAssistantConfigurations(t *testing.T) {
	t.Parallel()
	guide := string(must.Get(os.ReadFile("../../docs/assistants.md"))(t))
	found := regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllStringSubmatch(guide, -1)
	if len(found) < 5 {
		t.Fatalf("%d configurations", len(found))
	}
	for _, block := range found {
		var config map[string]any
		if err := json.Unmarshal([]byte(block[1]), &config); err != nil {
			t.Errorf("%v: %s", err, block[1])
		}
		if !strings.Contains(block[1], "https://press.example.com") || strings.Contains(block[1], "prk_") {
			t.Errorf("%s", block[1])
		}
	}
}
