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

// file is a file of deploy/.
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

// The rules are what Prometheus loads, and every expression what it can work out.
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

// Every panel of the dashboard asks what Prometheus can work out.
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
	asked := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			asked++
			if _, err := promql.NewParser(promql.Options{}).
				ParseExpr(strings.ReplaceAll(target.Expr, "$__rate_interval", "5m")); err != nil {
				t.Errorf("%s: %s: %v", panel.Title, target.Expr, err)
			}
		}
	}
	if asked < 20 {
		t.Errorf("the dashboard asks %d things", asked)
	}
}

// pinned is an image that cannot move: an exact version for people, with at least a minor number, and its digest.
var pinned = regexp.MustCompile(`^[a-z0-9./-]+:v?[0-9]+\.[0-9]+(\.[0-9]+)?(-[a-z0-9.]+)?@sha256:[0-9a-f]{64}$`)

func TestPinned(t *testing.T) {
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

// scripts/pin-images asks the registry for the digest of each version, and changes nothing else.
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

// The image's recipe is what BuildKit builds without a warning; what runs is nobody's root and tells how it is.
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
	for _, command := range stages[0].Commands { // what is copied is there
		if c, ok := command.(*instructions.CopyCommand); ok {
			copied = append(copied, c.SourcePaths...)
			for _, source := range c.SourcePaths {
				if _, err := os.Stat(filepath.Join("..", "..", source)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	let := strings.Fields(string(read(t, "container", "Containerfile.dockerignore")))
	for _, folder := range imported(t, "cmd", "internal", "client", "api") { // and so is what the program is made of
		if !slices.Contains(copied, folder) || !slices.Contains(let, "!"+folder) {
			t.Errorf("the program imports %s, which is not in the image's build", folder)
		}
	}
}

// imported are the module's own folders, those at its root, from which the Go files below some of them import; tests
// are left out.
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
			for _, one := range file.Imports {
				if rest, own := strings.CutPrefix(strings.Trim(one.Path.Value, `"`), "pressroom.example/pressroom/"); own {
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

// The composition is one: every reference leads somewhere, and without its secrets it does not start.
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
			// Files on their way to S3 are received on disk: what is below is the image's volume, and no memory.
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
			t.Errorf("it starts without %s", secrets[i])
		}
	}
}

// checkProxy checks that the nodes believe the proxy's X-Forwarded-For: they trust the network that they share with
// it, and that network publishes no port but the proxy's.
func checkProxy(t *testing.T, project *types.Project) {
	t.Helper()
	trusted := ""
	for network := range project.Services["proxy"].Networks {
		for _, pool := range project.Networks[network].Ipam.Config {
			trusted = pool.Subnet
		}
	}
	for name, service := range project.Services {
		if said := service.Environment["PRESSROOM_TRUSTED_PROXIES"]; strings.HasPrefix(service.Image,
			"pressroom:") && (said == nil || trusted == "" || *said != trusted) {
			t.Errorf("%s does not trust the proxy's network %s", name, trusted)
		}
		if len(service.Ports) > 0 && name != "proxy" {
			t.Errorf("%s can be reached past the proxy", name)
		}
	}
}

// The units are what systemd takes without a word, and give away as little as it asks for.
func TestSystemd(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skipf("skipped, as systemd-analyze is not here: %v", err)
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
