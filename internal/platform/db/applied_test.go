package db

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Databases may have applied the migrations up to lastApplied. They would not apply an edited one again, so a change is a
// new file. Set both when databases apply further migrations, at the latest with a release.
const (
	lastApplied = "00039"
	appliedSum  = "24d22a5c7a869517d27544b84903facf68e00e9fb27058b6a626cdd4eaf4963a"
)

// Migrations that databases have applied do not change.
func TestAppliedMigrations(t *testing.T) {
	t.Parallel()
	h := sha256.New()
	for _, file := range must.Get(filepath.Glob("migrations/*.sql"))(t) {
		if filepath.Base(file)[:len(lastApplied)] <= lastApplied {
			h.Write(must.Get(os.ReadFile(file))(t))
		}
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != appliedSum {
		t.Errorf("an applied migration has changed: write a new one (checksum %s)", got)
	}
}
