// Package mcpsuite runs the conformance suite of the Model Context Protocol against servers.
package mcpsuite

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/require"
)

const program = "@modelcontextprotocol/conformance/dist/index.js" // in the npm packages of test/tools

// Reasons why scenarios do not apply to pressroom.
const (
	noLogging = "the server does not support log messages"
	noUpdates = "the server does not support subscriptions to resources"
	noInput   = "no tool requests input during a call"
	noTasks   = "the server uses jobs and get_job for background work and does not support the extension for tasks"
)

// unsupportedScenarios maps the scenarios of features that pressroom does not offer to the reason. They must fail.
var unsupportedScenarios = map[string]string{
	"logging-set-level":       noLogging,
	"tools-call-with-logging": noLogging,
	"resources-subscribe":     noUpdates,
	"resources-unsubscribe":   noUpdates,

	"elicitation-sep1034-defaults":                  noInput,
	"elicitation-sep1330-enums":                     noInput,
	"tools-call-elicitation":                        noInput,
	"tools-call-sampling":                           noInput,
	"input-required-result-basic-elicitation":       noInput,
	"input-required-result-basic-list-roots":        noInput,
	"input-required-result-basic-sampling":          noInput,
	"input-required-result-capability-check":        noInput,
	"input-required-result-multi-round":             noInput,
	"input-required-result-multiple-input-requests": noInput,
	"input-required-result-non-tool-request":        noInput,
	"input-required-result-request-state":           noInput,
	"input-required-result-result-type":             noInput,
	"input-required-result-tampered-state":          noInput,

	"tasks-capability-negotiation": noTasks,
	"tasks-dispatch-and-envelope":  noTasks,
	"tasks-lifecycle":              noTasks,
	"tasks-mrtr-composition":       noTasks,
	"tasks-mrtr-input":             noTasks,
	"tasks-request-headers":        noTasks,
	"tasks-request-state-removal":  noTasks,
	"tasks-required-task-error":    noTasks,
	"tasks-wire-fields":            noTasks,
}

// check is the result of a check in the suite's output.
type check struct {
	ID, Status, ErrorMessage string
}

// Run runs the suite's scenarios for servers against the server at url. folder is the path of test/tools. All scenarios
// must pass, except that those in unsupportedScenarios and inapplicable must fail. A key of inapplicable is the name of a scenario,
// or of a scenario and a check, separated by a space; the value is the reason. Without the suite, the test is skipped,
// or fails in CI.
func Run(t *testing.T, folder, url string, inapplicable map[string]string) {
	t.Helper()
	if testing.Short() {
		t.Skip("external programs are slow")
	}
	require.NodePackage(t, folder, program)
	results := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "node", "--import", "./older-node.mjs", "node_modules/"+program, "server",
		"--url", url, "--suite", "all", "-o", results)
	cmd.Dir, cmd.WaitDelay = folder, time.Second
	out, err := cmd.CombinedOutput() // The suite exits with 1 because some scenarios fail.
	mayFail := func(name string) bool { return unsupportedScenarios[name] != "" || inapplicable[name] != "" }
	passed, failed := map[string]int{}, map[string]bool{}
	for scenario, checks := range read(t, results) {
		for _, c := range checks {
			switch name := scenario + " " + c.ID; {
			case c.Status == "SUCCESS":
				passed[scenario]++
			case c.Status != "FAILURE":
			case mayFail(scenario):
				failed[scenario] = true
			case mayFail(name):
				failed[name] = true
			default:
				t.Errorf("%s: %s", name, c.ErrorMessage)
			}
		}
	}
	for _, names := range []map[string]string{unsupportedScenarios, inapplicable} {
		for name := range names {
			if !failed[name] {
				t.Errorf("%s passes or did not run: it must not be among the scenarios that do not apply", name)
			}
		}
	}
	if passed["server-initialize"] == 0 || passed["server-stateless"] == 0 || passed["caching"] == 0 || len(passed) < 20 {
		t.Errorf("the suite did not run completely: %v\n%s", err, out)
	}
	t.Logf("%d scenarios passed", len(passed))
}

var scenarioFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d{2}-\d{2}T[0-9-]+Z$`)

// read returns the checks of each scenario.
func read(t *testing.T, results string) map[string][]check {
	t.Helper()
	folders := must.Get(os.ReadDir(results))(t)
	out := map[string][]check{}
	for _, folder := range folders {
		name := scenarioFolder.FindStringSubmatch(folder.Name())
		if name == nil {
			continue
		}
		raw := must.Get(os.ReadFile(filepath.Join(results, folder.Name(), "checks.json")))(t)
		var checks []check
		must.NoError(t, json.Unmarshal(raw, &checks))
		out[name[1]] = checks
	}
	return out
}
