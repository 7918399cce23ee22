package program

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	apps "pressroom.example/pressroom/internal/auth/totp"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Resealing covers the secrets of authenticator apps. A server without their sealing key does not start.
func TestResealAuthenticatorApps(t *testing.T) {
	t.Parallel()
	database, old, next := "sqlite:"+filepath.Join(t.TempDir(), "press.db"), newSealingKey(t), newSealingKey(t)
	env := func(keys string) []string { return []string{"PRESSROOM_SEALING_KEY=" + keys} }
	mustRun(t, env(old), "", "admin", "people", "add", "--name", "Ada", "--email", "ada@example.com", "--database", database)
	addApp(t, database, old)

	serve := []string{"serve", "--database", database, "--addr", "127.0.0.1:0", "--metrics-addr", ""}
	if said := fails(t, env(next), serve...); !strings.Contains(said, "authenticator apps were sealed with") {
		t.Errorf("without the sealing key: %s", said)
	}
	for _, want := range []string{"resealed 1 left 0", "resealed 0 left 0"} {
		said := mustRun(t, env(next+","+old), "", "admin", "reseal", "--database", database)
		if got := strings.Join(strings.Fields(said), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if said := fails(t, env(old), serve...); !strings.Contains(said, "authenticator apps were sealed with") {
		t.Errorf("with only the old key: %s", said)
	}
	mustRun(t, env(next), "", "admin", "people", "list", "--database", database)
}

// addApp adds an authenticator app to person 1, sealed with a key.
func addApp(t *testing.T, database, key string) {
	t.Helper()
	d := must.Get(db.Open(t.Context(), database, db.Options{}))(t)
	defer d.Close()
	sealer := must.Get(tokencrypt.New(key))(t)
	service := apps.New(d, sealer, "pressroom")
	setup := must.Get(service.Begin(1, "ada@example.com"))(t)
	code := must.Get(totp.GenerateCode(setup.Secret, time.Now()))(t)
	must.Get(service.Add(t.Context(), 1, setup.SealedSecret, code))(t)
}
