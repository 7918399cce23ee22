package browser

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/oidcserver"
	"pressroom.example/pressroom/internal/testkit/program"
)

// TestDirectory signs people in with their organization's directory, the only way to sign in.
func TestDirectory(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	provider := oidcserver.Run(t)
	for _, email := range []string{"unknown@harbour.example", "ada@harbour.example", "ada@harbour.example"} { // one for each sign-in
		provider.AddPerson(email, email)
	}
	world["directory"] = provider.Addr()
	drive(t, "directory.js", serveWithDirectory(t, provider), world)
}

// serveWithDirectory runs the program with Ada's team and a directory until the test ends.
func serveWithDirectory(t *testing.T, provider *oidcserver.Provider) greeting {
	t.Helper()
	dir := t.TempDir()
	binary := program.Build(t, program.Pressroom, "")
	trusted := filepath.Join(dir, "provider.pem")
	must.NoError(t, os.WriteFile(trusted, provider.PEM, 0o600))
	env := append(os.Environ(), "SSL_CERT_FILE="+trusted,
		"PRESSROOM_DATABASE=sqlite:"+filepath.Join(dir, "pressroom.db"), "PRESSROOM_ADDR=127.0.0.1:0",
		"PRESSROOM_METRICS_ADDR=", "PRESSROOM_LOG_FORMAT=json",
		"PRESSROOM_OIDC_ISSUER="+provider.Issuer(), "PRESSROOM_OIDC_CLIENT_ID="+provider.ClientID,
		"PRESSROOM_OIDC_CLIENT_SECRET="+provider.ClientSecret, "PRESSROOM_OIDC_ONLY=true")
	for _, args := range [][]string{
		{binary, "admin", "people", "add", "--name", "Ada", "--email", "ada@harbour.example"},
		{binary, "admin", "teams", "add", "--name", "Harbour", "--owner", "1"},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	cmd := exec.Command(binary, "serve")
	cmd.Env = env
	log := must.Get(cmd.StderrPipe())(t)
	must.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	return greeting{"app_url": publicURL(t, bufio.NewScanner(log))}
}

// publicURL reads the program's log until it contains the public URL.
func publicURL(t *testing.T, log *bufio.Scanner) string {
	t.Helper()
	for log.Scan() {
		var line struct {
			PublicURL string `json:"public_url"`
		}
		if json.Unmarshal(log.Bytes(), &line) == nil && strings.HasPrefix(line.PublicURL, "http://127.0.0.1:") {
			go func() {
				for log.Scan() { // so that the program does not block
					continue
				}
			}()
			return line.PublicURL
		}
	}
	t.Fatalf("the program ended before it was ready: %v", log.Err())
	return ""
}
