package sandbox

import (
	"path/filepath"
	"testing"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// TestStoreDurability checks SQLite's durability settings, in a folder whose name needs escaping in a URL.
func TestStoreDurability(t *testing.T) {
	s := startIn(t, filepath.Join(t.TempDir(), "a folder", "100%?x=y#z"), Options{})
	err := s.base.Store.InTx(t.Context(), func(t1 store.Tx) error {
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"} {
			var got string
			if err := t1.QueryRowContext(t.Context(), "pragma "+pragma).Scan(&got); err != nil {
				return err
			}
			if got != want {
				t.Errorf("%s is %s, want %s", pragma, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if matches, err := filepath.Glob(filepath.Join(s.dir, "sandbox.db")); err != nil || len(matches) != 1 {
		t.Errorf("files %v, %v", matches, err)
	}
}

func TestOpenInaccessibleFolder(t *testing.T) {
	if s, err := Open("/dev/null/sandbox", Options{}); err == nil {
		s.Close()
		t.Error("Open succeeded")
	}
}
