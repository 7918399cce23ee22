package program

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The operator adds, tests and removes notification channels by command. The address is read from standard input and is
// in no output.
func TestNotificationChannels(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	add := func(address string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary(t), append([]string{"admin", "--json", "channels", "add"}, args...)...)
		cmd.Env, cmd.Stdin, cmd.Dir = append(os.Environ(), o.env...), strings.NewReader(address), t.TempDir()
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	private := []string{"--service", "webhook", "--name", "Desk", "--team", "1", "--kinds", "post_failed,account_lost"}
	if out, err := add("https://127.0.0.1:1/s3cret\n", private...); err == nil || !strings.Contains(out, "--notification-allow") {
		t.Errorf("%v: %s", err, out)
	}
	out, err := add("https://127.0.0.1:1/s3cret\n", append(private, "--notification-allow", "127.0.0.1")...)
	if err != nil || !strings.Contains(out, `"signing_secret":"whsec_`) || strings.Contains(out, "s3cret") {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := add("", private...); err == nil || !strings.Contains(out, "the URL is missing") {
		t.Errorf("%v: %s", err, out)
	}
	if out, _, err := o.run("channels", "list"); err != nil || !strings.Contains(out, `"host":"127.0.0.1:1"`) ||
		strings.Contains(out, "s3cret") || strings.Contains(out, "whsec_") {
		t.Errorf("%v: %s", err, out)
	}
	o.mustFail("could not be reached", "channels", "test", "1", "--notification-allow", "127.0.0.1")
	o.mustFail("--notification-allow", "channels", "test", "1")
	o.mustRun("channels", "remove", "1")
	o.mustFail("channel not found", "channels", "remove", "1")
}
