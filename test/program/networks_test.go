package program

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// The check of network apps prints each result, and the next step for each failure, without secrets. It exits with
// status 1 if an app fails.
func TestNetworksCheck(t *testing.T) {
	t.Parallel()
	o, _ := newOperator(t, "team")
	addr := "127.0.0.1:" + freePort(t)
	start(t, nil, "sandbox", "--data", filepath.Join(t.TempDir(), "sandbox"), "--addr", addr,
		"--bluesky-account", "shop.test:open-sesame") // as in docs/networks.md
	o.until("the sandbox", func() bool {
		resp, err := http.Get("http://" + addr + "/held")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil
	})
	session := must.Get(http.Post("http://"+addr+"/bluesky/xrpc/com.atproto.server.createSession", "application/json",
		strings.NewReader(`{"identifier":"shop.test","password":"open-sesame"}`)))(t)
	if session.Body.Close(); session.StatusCode != http.StatusOK {
		t.Errorf("signing in to Bluesky: HTTP %d", session.StatusCode)
	}
	settings := must.Get(exec.CommandContext(t.Context(), binary(t), "sandbox", "--settings", "--addr", addr).Output())(t)
	file := filepath.Join(t.TempDir(), "networks.json")
	must.NoError(t, os.WriteFile(file, settings, 0o600))
	for _, name := range []string{
		"FACEBOOK", "INSTAGRAM", "INSTAGRAM_FACEBOOK", "LINKEDIN", "PINTEREST", "THREADS", "TIKTOK", "TIKTOK_BUSINESS", "YOUTUBE", "X",
	} {
		o.env = append(o.env, "PRESSROOM_"+name+"_CLIENT_SECRET=right-secret")
	}
	found, ok := o.mustRun("networks", "check", "--networks", file).([]any)
	if !ok || len(found) < 15 {
		t.Fatalf("findings: %v", found)
	}
	for _, f := range found {
		if about, _ := json.Marshal(f); bytes.Contains(about, []byte(`"fails"`)) {
			t.Errorf("%s", about)
		}
	}

	o.env = append(o.env, "PRESSROOM_PINTEREST_CLIENT_SECRET=wrong-secret")
	out, log, err := o.run("networks", "check", "--networks", file)
	if err == nil || !strings.Contains(log, "1 of ") || !strings.Contains(out, "Compare the app's ID and secret") ||
		strings.Contains(out+log, "error-secret") || strings.Contains(out+log, "right-secret") {
		t.Errorf("%v\n%s%s", err, out, log)
	}
	cmd := exec.CommandContext(t.Context(), binary(t), "admin", "networks", "check", "--networks", file)
	cmd.Env = append(os.Environ(), o.env...)
	plain, _ := cmd.Output() // the command exits with status 1
	for _, want := range []string{
		"pinterest\n  fails    client ID and secret: ", "\n           Next: Compare", "x\n  works    client ID and secret\n",
	} {
		if !strings.Contains(string(plain), want) {
			t.Errorf("no %q in %s", want, plain)
		}
	}
	if _, log, err = o.run("networks", "check"); err != nil || !strings.Contains(log, "only Bluesky is checked") {
		t.Errorf("without settings: %v\n%s", err, log)
	}
	strict := must.Get(exec.CommandContext(t.Context(), binary(t), "sandbox", "--settings", "--strict", "--addr", addr).Output())(t)
	must.NoError(t, os.WriteFile(file, strict, 0o600))
	o.env = append(o.env, "PRESSROOM_PINTEREST_CLIENT_SECRET=right-secret", "PRESSROOM_LINKEDIN_COMPANY_CLIENT_SECRET=right-secret")
	reviews, _ := json.Marshal(o.mustRun("networks", "check", "--networks", file))
	if n := strings.Count(string(reviews), "Complete App Review"); n != 2 {
		t.Errorf("%d missing reviews in %s", n, reviews)
	}
	if err := exec.CommandContext(t.Context(), binary(t), "sandbox", "--strict").Run(); err == nil {
		t.Error("sandbox --strict without --settings started")
	}
	o.mustFail("reading the network settings", "networks", "check", "--networks", file+".missing")
}
