package db

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// Databases may have applied the migrations up to lastApplied. An edited migration would not be applied again, so every
// change needs a new file. Update both constants when databases apply further migrations, at the latest with a release.
const (
	lastApplied = "00017"
	appliedSum  = "dcf52edc764968f942b8e31a598cbec50715c443ddbe947780b586a5fdb78441"
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
