package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// TestSetup sets up a new installation in two steps.
func TestSetup(t *testing.T) {
	t.Parallel()
	chromium := requireChromium(t)
	cmd := exec.Command(program.Build(t, program.Pressroom, ""), "serve")
	cmd.Env = append(os.Environ(), "PRESSROOM_DATABASE=sqlite:"+filepath.Join(t.TempDir(), "pressroom.db"),
		"PRESSROOM_ADDR=127.0.0.1:0", "PRESSROOM_METRICS_ADDR=", "PRESSROOM_LOG_FORMAT=json")
	process := must.Get(program.Start(cmd))(t)
	t.Cleanup(func() { process.End(os.Interrupt) })
	found := regexp.MustCompile(`"url":"(http://127[^"]*)/setup","code":"([A-Z2-7-]{19})"`)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !found.MatchString(process.Log.String()) {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("no setup code: %s", process.Log)
		}
	}
	match := found.FindStringSubmatch(process.Log.String())
	drive(t, "setup.js", greeting{"app_url": match[1]}, greeting{"code": match[2], "chromium": chromium})
}
