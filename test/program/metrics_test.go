package program

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// figureNames matches metric names in a text.
var figureNames = regexp.MustCompile(`\b(?:pressroom|go|process)_[a-z0-9_]+\b`)

// family returns the metric family of a name. A histogram has three names.
func family(name string) string {
	for _, end := range []string{"_bucket", "_sum", "_count"} {
		if short, ok := strings.CutSuffix(name, end); ok && strings.HasSuffix(short, "_seconds") {
			return short
		}
	}
	return name
}

// A server after use has every metric of the guide. The alert rules and the dashboard use no other metrics.
func TestFigures(t *testing.T) {
	t.Parallel()
	o, key := newOperator(t, "agency")
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	roots := writeCertificate(t, certFile, keyFile)
	addr, figures := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	start(t, append(o.env, "PRESSROOM_METRICS_ADDR="+figures), "serve", "--addr", addr, "--tls-cert", certFile,
		"--tls-key", keyFile, "--public-url", "https://press.test")
	client := browser(roots, addr)
	o.answers(client, "https://press.test/readyz")
	for _, ask := range []struct{ method, path, body string }{
		{http.MethodGet, "/api/v1/me", ""},
		{http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_posts","arguments":{"limit":1}}}`},
	} {
		req := must.Get(http.NewRequestWithContext(t.Context(), ask.method, "https://press.test"+ask.path, strings.NewReader(ask.body)))(t)
		req.Header.Set("Authorization", "Bearer "+key)
		req.Header.Set("Accept", "application/json, text/event-stream")
		if ask.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		resp := must.Get(client.Do(req))(t)
		resp.Body.Close()
	}
	var told map[string]bool
	o.until("the installation to be measured", func() bool {
		told = toldBy(t, "http://"+figures+"/metrics")
		return told["pressroom_posts_due"] && told["pressroom_ledger_audit_mismatches"] && told["pressroom_dependency_up"]
	})
	listed := regexp.MustCompile("(?m)^\\| `(pressroom_[a-z_]+)` \\|").FindAllStringSubmatch(read(t, "docs/running.md"), -1)
	if len(listed) < 30 {
		t.Fatalf("the guide lists %d metrics", len(listed))
	}
	for _, row := range listed {
		if !told[row[1]] {
			t.Errorf("/metrics lacks %s", row[1])
		}
	}
	for _, file := range []string{"deploy/prometheus/rules.yaml", "deploy/grafana/pressroom.json"} {
		asked := figureNames.FindAllString(read(t, file), -1)
		if len(asked) < 10 {
			t.Errorf("%s uses %d metrics", file, len(asked))
		}
		for _, name := range asked {
			if !told[family(name)] {
				t.Errorf("%s uses %s, which /metrics lacks", file, name)
			}
		}
	}
}

func toldBy(t *testing.T, url string) map[string]bool {
	t.Helper()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(t)
	out := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^([a-z_0-9]+)[ {]`).FindAllStringSubmatch(string(raw), -1) {
		out[family(found[1])] = true
	}
	return out
}

// The guide has a runbook for every alert rule, and no other runbooks.
func TestAlertRunbooks(t *testing.T) {
	t.Parallel()
	alerts := []string{}
	for _, found := range regexp.MustCompile(`(?m)^\s*- alert: (\S+)$`).FindAllStringSubmatch(read(t, "deploy/prometheus/rules.yaml"), -1) {
		alerts = append(alerts, found[1])
	}
	told := []string{}
	for _, found := range regexp.MustCompile("(?m)^\\| `(Pressroom[A-Za-z]+)` \\|").FindAllStringSubmatch(read(t, "docs/deploy.md"), -1) {
		told = append(told, found[1])
	}
	slices.Sort(alerts)
	slices.Sort(told)
	if !slices.Equal(alerts, told) || len(alerts) < 10 {
		t.Errorf("rules: %v\nrunbooks: %v", alerts, told)
	}
}

// The dashboard shows every metric of an alert.
func TestDashboardShowsAlerts(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, name := range figureNames.FindAllString(read(t, "deploy/grafana/pressroom.json"), -1) {
		shown[family(name)] = true
	}
	for _, name := range figureNames.FindAllString(read(t, "deploy/prometheus/rules.yaml"), -1) {
		if !shown[family(name)] {
			t.Errorf("an alert uses %s, which no panel shows", name)
		}
	}
}

// The dashboard is JSON, and its panels have queries.
func TestDashboardComplete(t *testing.T) {
	t.Parallel()
	var board struct {
		UID    string `json:"uid"`
		Panels []struct {
			ID      int    `json:"id"`
			Type    string `json:"type"`
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	must.NoError(t, json.Unmarshal([]byte(read(t, "deploy/grafana/pressroom.json")), &board))
	ids := map[int]bool{}
	for _, panel := range board.Panels {
		if ids[panel.ID] || panel.Title == "" || panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("panel %d %q", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
	}
	if len(ids) < 10 || board.UID == "" {
		t.Errorf("%d panels", len(ids))
	}
}

// read returns a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", path)))(t)
	return string(raw)
}

func number(t *testing.T, text string) int {
	t.Helper()
	n := must.Get(strconv.Atoi(text))(t)
	return n
}

// The program reads every variable that the deployment files set.
func TestDeployedVariablesRead(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, args := range [][]string{{"serve", "--help"}, {"health", "--help"}} {
		out := must.Get(exec.Command(binary(t), args...).Output())(t)
		for _, name := range regexp.MustCompile(`\$(PRESSROOM_[A-Z_]+)`).FindAllStringSubmatch(string(out), -1) {
			known[name[1]] = true
		}
	}
	seen := 0
	err := filepath.WalkDir(filepath.Join("..", "..", "deploy"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, name := range regexp.MustCompile(`PRESSROOM_[A-Z_]+`).FindAllString(string(raw), -1) {
			if seen++; !known[name] && name != "PRESSROOM_VERSION" { // only for Compose
				t.Errorf("%s sets the unknown variable %s", path, name)
			}
		}
		return err
	})
	if err != nil || seen < 30 {
		t.Errorf("%d variables: %v", seen, err)
	}
}
