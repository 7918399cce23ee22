package browser

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/program"
)

// TestAccount uses localhost, because passkeys require a domain name.
func TestAccount(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstartAt(t, "localhost:0")
	world["recovery"] = link(t, run, "people", "recover", "ada@harbour.example")
	for name, email := range map[string]string{"new": "new@harbour.example", "keyed": "keyed@harbour.example"} {
		world[name] = link(t, run, "teams", "invite", "--team", "1", "--email", email, "--role", "editor")
	}
	drive(t, "account.js", run, world)
}

// link runs an admin command and returns the link that it prints.
func link(t *testing.T, run greeting, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Build(t, program.Pressroom, ""), append([]string{"admin", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), "PRESSROOM_DATABASE=sqlite:"+filepath.Join(run["data"].(string), "pressroom.db"),
		"PRESSROOM_PUBLIC_URL="+run["app_url"].(string))
	cmd.Stderr = t.Output()
	out := must.Get(cmd.Output())(t)
	var result struct {
		Link string `json:"link"`
	}
	if err := json.Unmarshal(out, &result); err != nil || result.Link == "" {
		t.Fatalf("%s (%v)", out, err)
	}
	return result.Link
}
