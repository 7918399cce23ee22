package deploy

import (
	"bytes"
	"encoding/json"
	goparser "go/parser"
	"go/token"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	promql "github.com/prometheus/prometheus/promql/parser"
)

// file returns the path of a file in deploy/.
func file(parts ...string) string {
	return filepath.Join(append([]string{"..", "..", "deploy"}, parts...)...)
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Prometheus can load the rules and parse their expressions.
func TestPrometheusRules(t *testing.T) {
	groups, errs := rulefmt.ParseFile(file("prometheus", "rules.yaml"), false, model.LegacyValidation,
		promql.NewParser(promql.Options{}), slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Error(err)
	}
	if groups == nil || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) < 15 {
		t.Fatalf("%+v", groups)
	}
	for _, rule := range groups.Groups[0].Rules {
		if !slices.Contains([]string{"critical", "warning", "info"}, rule.Labels["severity"]) || rule.Annotations["summary"] == "" {
			t.Errorf("%s: %v %v", rule.Alert, rule.Labels, rule.Annotations)
		}
	}
}

// Prometheus can parse the expressions of the dashboard.
func TestGrafanaDashboard(t *testing.T) {
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(read(t, "grafana", "pressroom.json"), &board); err != nil {
		t.Fatal(err)
	}
	expressions := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			expressions++
			if _, err := promql.NewParser(promql.Options{}).
				ParseExpr(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")); err != nil {
				t.Errorf("%s: %s: %v", panel.Title, target.Expr, err)
			}
		}
	}
	if expressions < 20 {
		t.Errorf("the dashboard has %d expressions", expressions)
	}
}

// pinned matches an image with a version of at least a major and a minor number, and a digest.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[a-z0-9.]+)?@sha256:[0-9a-f]{64}$`)

func TestPinnedImages(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for image, want := range map[string]bool{
		"caddy:2.11.4" + digest: true, "versity/versitygw:v1.8.0" + digest: true,
		"golang:1.26.8-bookworm" + digest: true, "postgres:17.11" + digest: true,
		"caddy:2" + digest: false, "caddy:latest" + digest: false, "caddy" + digest: false, "caddy:2.11.4": false,
		"caddy:2.11.4@sha256:abc": false,
	} {
		if pinned.MatchString(image) != want {
			t.Errorf("%s: want %t", image, want)
		}
	}
}

// scripts/pin-images changes only the digests of the images.
func TestPinImages(t *testing.T) {
	root, bin := t.TempDir(), t.TempDir()
	crane := "#!/bin/sh\n[ \"$1\" = digest ] || exit 1\ncase \"$2\" in *@*) exit 1;; esac\necho sha256:" + strings.Repeat("b", 64) + "\n"
	if err := os.WriteFile(filepath.Join(bin, "crane"), []byte(crane), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"compose/compose.yaml", "container/Containerfile"} {
		if err := os.MkdirAll(filepath.Join(root, "deploy", filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, "deploy", name), read(t, filepath.FromSlash(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join("..", "..", "scripts", "pin-images"))
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "ROOT="+root)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	digests := regexp.MustCompile("@sha256:[0-9a-f]{64}")
	for _, name := range []string{"compose/compose.yaml", "container/Containerfile"} {
		got, err := os.ReadFile(filepath.Join(root, "deploy", name))
		if err != nil {
			t.Fatal(err)
		}
		if want := digests.ReplaceAll(read(t, filepath.FromSlash(name)),
			[]byte("@sha256:"+strings.Repeat("b", 64))); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// BuildKit parses the Containerfile without warnings. The image runs without root and has a health check.
func TestContainerfile(t *testing.T) {
	parsed, err := parser.Parse(bytes.NewReader(read(t, "container", "Containerfile")))
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range parsed.Warnings {
		t.Errorf("%+v", warning)
	}
	stages, _, err := instructions.Parse(parsed.AST,
		linter.New(&linter.Config{ExperimentalAll: true, Warn: func(rule, description, _, message string, at []parser.Range) {
			t.Errorf("%s at %v: %s (%s)", rule, at, message, description)
		}}))
	if err != nil {
		t.Fatal(err)
	}
	if base := stages[0].BaseName; !pinned.MatchString(base) {
		t.Errorf("the image is built from %q, which is not pinned: scripts/pin-images", base)
	}
	last := stages[len(stages)-1]
	if len(stages) != 2 || last.BaseName != "scratch" {
		t.Errorf("%d stages, the last from %s", len(stages), last.BaseName)
	}
	has := map[string]string{}
	for _, command := range last.Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			has["user"] = c.User
		case *instructions.HealthCheckCommand:
			has["health"] = strings.Join(c.Health.Test, " ")
		case *instructions.EntrypointCommand:
			has["entrypoint"] = strings.Join(c.CmdLine, " ")
		}
	}
	if has["user"] != "65532:65532" || has["health"] != "CMD /pressroom health" || has["entrypoint"] != "/pressroom" {
		t.Errorf("%v", has)
	}
	copied := []string{}
	for _, command := range stages[0].Commands { // Copied files exist.
		if c, ok := command.(*instructions.CopyCommand); ok {
			copied = append(copied, c.SourcePaths...)
			for _, source := range c.SourcePaths {
				if _, err := os.Stat(filepath.Join("..", "..", source)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	ignored := strings.Fields(string(read(t, "container", "Containerfile.dockerignore")))
	for _, folder := range imported(t, "cmd", "internal", "client", "api") { // All folders of the program are copied.
		if !slices.Contains(copied, folder) || !slices.Contains(ignored, "!"+folder) {
			t.Errorf("the program imports %s, which is not in the image's build", folder)
		}
	}
}

// imported returns the module's top-level folders that non-test Go files in the given folders import.
func imported(t *testing.T, folders ...string) []string {
	t.Helper()
	found := map[string]bool{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := goparser.ParseFile(token.NewFileSet(), path, nil, goparser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, spec := range file.Imports {
				if rest, own := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "pressroom.example/pressroom/"); own {
					top, _, _ := strings.Cut(rest, "/")
					found[top] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// The Compose file is valid, all referenced files exist, and it requires its secrets.
func TestCompose(t *testing.T) {
	load := func(env ...string) ([]string, error) {
		options, err := cli.NewProjectOptions([]string{file("compose", "compose.yaml")}, cli.WithEnv(env),
			cli.WithInterpolation(true), cli.WithResolvedPaths(true), cli.WithConsistency(true))
		if err != nil {
			return nil, err
		}
		project, err := options.LoadProject(t.Context())
		if err != nil {
			return nil, err
		}
		for name, service := range project.Services {
			for _, mount := range service.Volumes {
				if mount.Type == "bind" {
					if _, err := os.Stat(mount.Source); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
			// Files are stored on disk before they are sent to S3. /data must be the image's volume, not memory.
			if scratch := service.Environment["PRESSROOM_SCRATCH"]; strings.HasPrefix(service.Image, "pressroom:") {
				inMemory := slices.ContainsFunc(service.Tmpfs, func(at string) bool { return strings.HasPrefix(at, "/data") })
				if scratch == nil || *scratch != "/data" || inMemory {
					t.Errorf("%s receives files in memory", name)
				}
			}
			if service.Build == nil && service.Image != "pressroom:dev" && !pinned.MatchString(service.Image) {
				t.Errorf("%s runs %q, which is not pinned: scripts/pin-images", name, service.Image)
			}
			if build := service.Build; build != nil {
				if _, err := os.Stat(filepath.Join(build.Context, build.Dockerfile)); err != nil {
					t.Error(err)
				}
			}
		}
		checkProxy(t, project)
		return project.ServiceNames(), nil
	}
	secrets := []string{"DOMAIN=press.example.com", "POSTGRES_PASSWORD=x", "S3_SECRET=x", "PRESSROOM_SEALING_KEY=x"}
	names, err := load(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if want := []string{"api-1", "api-2", "files", "postgres", "proxy", "valkey", "worker"}; !slices.Equal(names, want) {
		t.Errorf("%v", names)
	}
	for i := range secrets {
		if _, err := load(slices.Delete(slices.Clone(secrets), i, i+1)...); err == nil {
			t.Errorf("the Compose file is valid without %s", secrets[i])
		}
	}
}

// checkProxy checks that the nodes trust the proxy's network for X-Forwarded-For, and that only the proxy publishes
// ports.
func checkProxy(t *testing.T, project *types.Project) {
	t.Helper()
	trusted := ""
	for network := range project.Services["proxy"].Networks {
		for _, pool := range project.Networks[network].Ipam.Config {
			trusted = pool.Subnet
		}
	}
	for name, service := range project.Services {
		if trusts := service.Environment["PRESSROOM_TRUSTED_PROXIES"]; strings.HasPrefix(service.Image,
			"pressroom:") && (trusts == nil || trusted == "" || *trusts != trusted) {
			t.Errorf("%s does not trust the proxy's network %s", name, trusted)
		}
		if len(service.Ports) > 0 && name != "proxy" {
			t.Errorf("%s publishes a port", name)
		}
	}
}

// systemd accepts the units without warnings and rates their exposure as low.
func TestSystemd(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("systemd-analyze is not installed: %v", err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "pressroom")
	if err := os.WriteFile(program, []byte("#!/bin/true\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, instance := range map[string]string{
		"pressroom.service": "pressroom.service", "pressroom@.service": "pressroom@worker.service",
	} {
		unit := bytes.ReplaceAll(read(t, "systemd", name), []byte("=pressroom "), []byte("="+program+" "))
		if err := os.WriteFile(filepath.Join(dir, name), unit, 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", filepath.Join(dir, instance)).CombinedOutput()
		if err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true",
			"--threshold=20", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}
