package backup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/platform/backup"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// newSmallBackup creates and backs up an installation with little data.
func (w *env) newSmallBackup(url, blobs string) (server.Config, string) {
	w.t.Helper()
	cfg := w.config(url, blobs)
	h := w.start(cfg)
	h.draft(h.home("bluesky"), "bluesky", "Small")
	folder := filepath.Join(w.t.TempDir(), "backup")
	must.Get(server.Backup(w.t.Context(), cfg, folder, backup.Options{}))(w.t)
	h.stop()
	return cfg, folder
}

// A damaged backup is detected and not restored.
func TestDamaged(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		_, folder := w.newSmallBackup(url, testkit.Blobs(t))
		manifest := must.Get(backup.Read(folder))(t)
		file := filepath.Join(folder, "files", manifest.Files[0].Name)
		table := filepath.Join(folder, manifest.Database.Folder, manifest.Database.Files[len(manifest.Database.Files)-1].Name)
		for name, damage := range map[string]struct {
			path, rule string
			change     func([]byte) []byte
		}{
			"a changed file":     {file, "other_digest", func(raw []byte) []byte { raw[len(raw)/2] ^= 1; return raw }},
			"a shorter file":     {file, "other_size", func(raw []byte) []byte { return raw[:len(raw)-1] }},
			"a file that is not": {file, "missing", nil},
			"a changed database": {table, "other_digest", func(raw []byte) []byte { raw[len(raw)/2] ^= 1; return raw }},
		} {
			whole := must.Get(os.ReadFile(damage.path))(t)
			if damage.change == nil {
				must.NoError(t, os.Remove(damage.path))
			} else {
				must.NoError(t, os.WriteFile(damage.path, damage.change(slices.Clone(whole)), 0o600))
			}
			found := must.Get(server.VerifyBackup(t.Context(), w.config(url, ""), folder))(t)
			if len(found.Findings) != 1 || found.Findings[0].Rule != damage.rule {
				t.Errorf("%s: %+v", name, found.Findings)
			}
			target := w.config(empty(t, url), testkit.Blobs(t))
			if _, err := server.Restore(t.Context(), target, folder); err == nil || !strings.Contains(err.Error(), "is damaged") {
				t.Errorf("%s is restored: %v", name, err)
			}
			must.NoError(t, os.WriteFile(damage.path, whole, 0o600))
		}
		path := filepath.Join(folder, "manifest.json")
		whole := must.Get(os.ReadFile(path))(t)
		must.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(whole), `"size":`, `"size":1`, 1)), 0o600))
		if _, err := server.VerifyBackup(t.Context(), w.config(url, ""), folder); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("a changed manifest: %v", err)
		}
	})
}

// The next backup copies files again if their copies are damaged.
func TestDamagedFilesCopiedAgain(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		cfg, folder := w.newSmallBackup(url, testkit.Blobs(t))
		first := must.Get(backup.Read(folder))(t)
		shorten := func(raw []byte) []byte { return raw[:len(raw)/2] }
		flip := func(raw []byte) []byte { raw[len(raw)/2] ^= 1; return raw }
		for name, c := range map[string]struct {
			change   func([]byte) []byte
			opts     backup.Options
			manifest bool // whether the manifest is also damaged
		}{
			"shorter files":                 {change: shorten},
			"shorter files, no manifest":    {change: shorten, manifest: true},
			"changed files, read again":     {change: flip, opts: backup.Options{Reread: true}},
			"changed files, without a list": {change: flip, manifest: true},
		} {
			for _, f := range first.Files {
				damage(t, filepath.Join(folder, "files", f.Name), c.change)
			}
			if c.manifest {
				damage(t, filepath.Join(folder, "manifest.json"), shorten)
			}
			made := must.Get(server.Backup(t.Context(), cfg, folder, c.opts))(t)
			now := must.Get(backup.Read(folder))(t)
			if !slices.Equal(now.Files, first.Files) || made.Copied != len(first.Files) ||
				!c.manifest && len(made.Repaired) != len(first.Files) || len(made.Damaged) > 0 {
				t.Errorf("%s: files %v, want %v: %+v", name, now.Files, first.Files, made)
			}
			found, err := server.VerifyBackup(t.Context(), cfg, folder)
			if must.NoError(t, err); len(found.Findings) > 0 {
				t.Errorf("%s: %v", name, found.Findings)
			}
		}
	})
}

func damage(t *testing.T, path string, change func([]byte) []byte) {
	t.Helper()
	raw := must.Get(os.ReadFile(path))(t)
	must.NoError(t, os.WriteFile(path, change(raw), 0o600))
}

// A file that is missing from the store does not prevent a backup. The store of another database does.
func TestMissing(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		cfg, folder := w.newSmallBackup(url, testkit.Blobs(t))
		whole := must.Get(backup.Read(folder))(t)
		lost := whole.Files[slices.IndexFunc(whole.Files, func(f backup.File) bool { return !strings.HasPrefix(f.Name, "store/") })].Name
		store := must.Get(blob.Open(t.Context(), cfg.Blobs, blob.Options{}))(t)
		must.NoError(t, store.Delete(t.Context(), lost))
		folder = filepath.Join(t.TempDir(), "backup")
		made := must.Get(server.Backup(t.Context(), cfg, folder, backup.Options{}))(t)
		if !slices.Equal(made.Missing, []string{lost}) || made.Files != len(whole.Files)-1 {
			t.Errorf("%+v", made)
		}
		found := must.Get(server.VerifyBackup(t.Context(), cfg, folder))(t)
		if len(found.Findings) > 0 || !slices.Equal(found.Missing, made.Missing) {
			t.Errorf("%+v", found)
		}
		must.Get(server.Restore(t.Context(), w.config(empty(t, url), testkit.Blobs(t)), folder))(t)
		other := cfg
		other.Blobs = testkit.Blobs(t)
		if _, err := server.Backup(t.Context(), other, filepath.Join(t.TempDir(), "backup"), backup.Options{}); err == nil {
			t.Error("a backup with another database's store succeeded")
		}
	})
}

// A backup that was made during a change of sealing keys can be restored only with both keys.
func TestTwoKeys(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		cfg, _ := w.newSmallBackup(url, testkit.Blobs(t))
		old := cfg.SealingKey
		newer := must.Get(tokencrypt.NewKey())(t)
		cfg.SealingKey = newer + "," + old
		folder := filepath.Join(t.TempDir(), "backup")
		made := must.Get(server.Backup(t.Context(), cfg, folder, backup.Options{}))(t)
		target := w.config(empty(t, url), testkit.Blobs(t))
		target.SealingKey = newer
		if _, err := server.Restore(t.Context(), target, folder); len(made.SealingKeys) != 2 || err == nil ||
			!strings.Contains(err.Error(), made.SealingKeys[1]+" is missing") {
			t.Errorf("%v: without the old key: %v", made.SealingKeys, err)
		}
		target.SealingKey = old + "," + newer
		must.Get(server.Restore(t.Context(), target, folder))(t)
	})
}

// A backup is restored only to an empty destination, and only with its sealing key.
func TestRejected(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		cfg, folder := w.newSmallBackup(url, testkit.Blobs(t))
		rejected := func(name string, target server.Config, says string) {
			t.Helper()
			if _, err := server.Restore(t.Context(), target, folder); err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		target := w.config(empty(t, url), testkit.Blobs(t))
		other := target
		other.SealingKey = must.Get(tokencrypt.NewKey())(t)
		rejected("another key", other, "is missing: the backup uses")
		over := target
		over.Database = url
		rejected("a database that is there", over, "Restore to an empty database")
		full := target
		full.Blobs = cfg.Blobs
		store := must.Get(blob.Open(t.Context(), cfg.Blobs, blob.Options{}))(t)
		staged := must.Get(store.Stage(t.Context()))(t)
		must.Get(staged.Write([]byte("a stranger")))(t)
		must.NoError(t, store.Put(t.Context(), "stranger", staged))
		rejected("a store that is not empty", full, "not empty")
		must.Get(server.Restore(t.Context(), target, folder))(t)
		rejected("a second time", target, "Restore to an empty database")
		if _, err := server.Backup(t.Context(), cfg, filepath.Dir(folder), backup.Options{}); err == nil ||
			!strings.Contains(err.Error(), "not part of a backup") {
			t.Errorf("a backup to a folder with other files: %v", err)
		}
	})
}

// Files are backed up from S3 and restored to S3.
func TestS3(t *testing.T) {
	store := s3.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", store.ID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", store.Secret)
	w := newEnv(t)
	_, folder := w.newSmallBackup(testkit.SQLite(t), store.Bucket(t))
	target := w.config(empty(t, "sqlite:"), store.Bucket(t))
	must.Get(server.Restore(t.Context(), target, folder))(t)
	s := must.Get(server.Open(t.Context(), target))(t)
	found, err := s.Media.Audit(t.Context())
	if must.NoError(t, err); len(found) > 0 {
		t.Errorf("the library is incomplete: %v", found)
	}
	must.NoError(t, s.Close())
}
