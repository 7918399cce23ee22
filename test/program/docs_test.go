package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// shim replaces pressroom in the guides' commands. It starts servers in the background and waits until they are
// ready. A new server at an address replaces the previous server.
const shim = `#!/usr/bin/env bash
set -euo pipefail
case "$*" in *--settings*) exec "$REAL" "$@" ;; esac
case "$1" in
quickstart) addr=127.0.0.1:@8080@ ;;
serve) addr=127.0.0.1:@8080@ ;;
sandbox) addr=127.0.0.1:@8090@ ;;
*) exec "$REAL" "$@" ;;
esac
args=("$@")
for ((i = 1; i < ${#args[@]}; i++)); do [ "${args[$i]}" = --addr ] && addr=${args[$((i + 1))]}; done
[ -f "$RUNNING/$addr" ] && { kill "$(cat "$RUNNING/$addr")"; while kill -0 "$(cat "$RUNNING/$addr")" 2>/dev/null; do sleep 0.05; done; }
"$REAL" "$@" --addr "$addr" >"$RUNNING/out" 2>"$RUNNING/log" &
echo $! >"$RUNNING/$addr"
for _ in $(seq 200); do curl -s -o "$RUNNING/first" "http://$addr/" && exit 0; sleep 0.05; done # it listens before its database is made
cat "$RUNNING/log" >&2
exit 1
`

// guide is a page with commands.
type guide struct {
	file   string
	before string   // the reader's earlier steps
	leave  []string // prefixes of commands that the test does not run
	real   [][2]string
}

// awaitQuickstart waits at most a minute until quickstart has printed everything.
const awaitQuickstart = "for _ in $(seq 1200); do grep -q 'Press Ctrl-C' \"$RUNNING/out\" && break; sleep 0.05; done\n" +
	"grep -q 'Press Ctrl-C' \"$RUNNING/out\"\n"

const started = "pressroom quickstart --data data\n" + awaitQuickstart +
	"export KEY=$(grep -o 'full  *prk_.*' \"$RUNNING/out\" | sed 's/full *//')\n"

// Every command in the guides works as documented.
func TestGuidesWork(t *testing.T) {
	t.Parallel()
	newest := `export ID=$(curl -s -H "Authorization: Bearer $KEY" "http://127.0.0.1:8080/api/v1/posts?limit=1" | ` +
		`grep -o '"posts":\[{"id":"[^"]*' | sed 's/.*"//')` + "\n"
	guides := []guide{
		{file: "README.md", before: started, leave: []string{"make run", "make test"}, real: [][2]string{{"export KEY=prk_…\n", ""}}},
		{file: "docs/running.md", leave: []string{"printf '%s\\n' \"$APP_PASSWORD\""}, real: [][2]string{
			{"# Restart the service so that it knows both keys. Then:\n", "[ -n \"${PRESSROOM_DATABASE:-}\" ] || " +
				"pressroom serve --database sqlite:pressroom.db\n"}, // PostgreSQL is there
		}},
		{file: "docs/networks.md"},
		{file: "docs/app.md",
			before: "pressroom quickstart --data pressroom-data\n" + awaitQuickstart +
				"pressroom serve --database sqlite:pressroom.db\npressroom admin people add --name Ada --email ada@example.com\n"},
		{file: "docs/backup.md", before: "export PRESSROOM_RESUME_NO_WAIT=true\n"},
		{file: "docs/deploy.md", before: "pressroom admin people add --name Ada --email ada@example.com\npressroom " +
			"admin teams add --name Harbour --owner 1 --plan team\n"},
		{file: "docs/troubleshooting.md", before: "pressroom serve --database sqlite:pressroom.db\n"},
		{file: "docs/upgrading.md"},
		{file: "docs/delivery.md", before: started + newest +
			`curl -sf -X POST -H "Authorization: Bearer $KEY" http://127.0.0.1:8080/api/v1/posts/$ID/publish` + "\n"},
		{file: "docs/idempotency.md", before: started},
		{file: "docs/limits.md", before: started},
		{file: "docs/errors.md"},
		{file: "docs/media.md", before: started},
		{file: "docs/reports.md", before: started},
		{file: "docs/analytics.md", before: started},
		{file: "docs/hashtags.md", before: started},
		{file: "docs/voices.md", before: started},
		{file: "docs/threads.md", before: started},
		{file: "docs/first-comments.md", before: started},
		{file: "docs/options.md", before: started},
		{file: "docs/capabilities.md"},
		{file: "docs/assistants.md", before: started},
		{file: "docs/tools.md", before: started},
		// test/clients runs these examples.
		{file: "docs/clients.md", before: started, leave: []string{"(cd ", "npm install", "node examples/", "PYTHONPATH="}},
		{file: "docs/bridge.md"},
	}
	for _, g := range guides {
		t.Run(g.file, func(t *testing.T) {
			t.Parallel()
			g.run(t)
		})
	}
}

var blocks = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

func (g guide) run(t *testing.T) {
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", g.file)))(t)
	script := g.before
	for _, block := range blocks.FindAllStringSubmatch(string(raw), -1) {
		if !strings.Contains(block[1], "postgres://") && !strings.Contains(block[1], "--role worker") ||
			os.Getenv(testkit.PostgresVariable) != "" {
			script += block[1]
		}
	}
	for _, left := range g.leave {
		script = strings.ReplaceAll(script, "\n"+left, "\ntrue # "+left)
		script = strings.TrimPrefix(script, left)
	}
	for _, r := range g.real {
		script = strings.ReplaceAll(script, r[0], r[1])
	}
	if strings.TrimSpace(script) == "" {
		return
	}
	if strings.Contains(script, "postgres://") {
		script = strings.ReplaceAll(script, "postgres://pressroom:secret@127.0.0.1:5432/pressroom", testkit.Postgres(t))
	}
	execute(t, script)
}

// execute runs a script with separate ports. Error responses make the script fail, as with curl -f.
func execute(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	program, metrics := shim, ""
	for _, port := range []string{"8080", "8081", "8090", "9464", "9465"} {
		free := freePort(t)
		script = strings.ReplaceAll(script, ":"+port, ":"+free)
		program = strings.ReplaceAll(program, "@"+port+"@", free)
		if port == "9464" {
			metrics = "PRESSROOM_METRICS_ADDR=127.0.0.1:" + free
		}
	}
	script = strings.ReplaceAll(script, "curl -s ", "curl -sS --fail-with-body ")
	running := filepath.Join(dir, "running")
	must.NoError(t, os.Mkdir(running, 0o700))
	must.NoError(t, os.WriteFile(filepath.Join(dir, "pressroom"), []byte(program), 0o700))
	cmd := exec.Command("bash", "-eu", "-o", "pipefail")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "REAL="+binary(t), "RUNNING="+running, metrics)
	out, err := cmd.CombinedOutput()
	stopAll(t, running)
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(running, "log"))
		t.Fatalf("%v\n%s\n%s\n--- the script:\n%s", err, out, log, script)
	}
}

// freePort returns a port that no other test gets.
func freePort(t *testing.T) string {
	t.Helper()
	addr := must.Get(testkit.FreeAddr())(t)
	return strings.TrimPrefix(addr, "127.0.0.1:")
}

func stopAll(t *testing.T, running string) {
	t.Helper()
	files := must.Get(filepath.Glob(filepath.Join(running, "127.0.0.1:*")))(t)
	for _, file := range files {
		raw := must.Get(os.ReadFile(file))(t)
		pid := must.Get(strconv.Atoi(strings.TrimSpace(string(raw))))(t)
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // the process may have ended
		}
	}
}
