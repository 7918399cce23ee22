package erasure

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

func sign(secret, payload string) string {
	part := base64.RawURLEncoding.EncodeToString([]byte(payload))
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(part))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)) + "." + part
}

// A request is accepted only with the secret of one of the configured apps.
func TestVerify(t *testing.T) {
	t.Parallel()
	s := New(Options{
		MetaSecrets: map[string]string{"facebook": "shared", "instagram": "shared", "threads": "own", "without a secret": ""},
	})
	const valid = `{"algorithm":"HMAC-SHA256","user_id":"12"}`
	for name, c := range map[string]struct {
		request   string
		platforms []string
		user      string
	}{
		"one app":                  {sign("own", valid), []string{"threads"}, "12"},
		"two apps with one secret": {sign("shared", valid), []string{"facebook", "instagram"}, "12"},
		"numeric user ID": {
			sign("own", `{"algorithm":"hmac-sha256","user_id":9007199254740993}`), []string{"threads"},
			"9007199254740993",
		},
		"with padding":   {sign("own", valid) + "=", nil, ""}, // the signed text differs
		"no secret":      {sign("", valid), nil, ""},
		"another secret": {sign("other", valid), nil, ""},
		"no parts":       {"abc", nil, ""},
		"no base64":      {"?." + valid, nil, ""},
		"no JSON":        {sign("own", "12"), nil, ""},
		"no user":        {sign("own", `{"algorithm":"HMAC-SHA256","user_id":""}`), nil, ""},
		"algorithm none": {sign("own", `{"algorithm":"none","user_id":"12"}`), nil, ""},
	} {
		platforms, user, err := s.verifyRequest(c.request)
		if c.user == "" {
			if err == nil {
				t.Errorf("%s: accepted", name)
			}
			continue
		}
		if err != nil || user != c.user || !slices.Equal(platforms, c.platforms) {
			t.Errorf("%s: %v, %q (%v)", name, platforms, user, err)
		}
	}
}

// Exported file names contain no folders or forbidden characters.
func TestSafeFileName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.jpg": "a.jpg", "../../etc/passwd": "passwd", `..\..\x.png`: "x.png", "a\x00b?.mp4": "a_b_.mp4",
		"über.jpg": "über.jpg",
	} {
		if got := safeFileName(name); got != want {
			t.Errorf("%q became %q, want %q", name, got, want)
		}
	}
}

// A network's deletion request also deletes the account's picture.
func TestEraseAccountPicture(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w env) {
		account := w.createAccount(t, w.team)
		w.exec(t, map[string][]any{`1 INSERT INTO account_pictures (account_id, source, type, image, fetched_at)
		VALUES (?, ?, 'image/png', ?, 1)`: {account, []byte("s"), []byte("i")}})
		var remaining int
		must.NoError(t, w.DB.InTx(t.Context(), "test.erase", func(ctx context.Context, tx *db.Tx) error {
			if err := eraseAccount(ctx, tx, w.team, account, "bluesky"); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM account_pictures`).Scan(&remaining)
		}))
		if remaining != 0 {
			t.Errorf("%d pictures remain", remaining)
		}
	})
}

// A network's deletion request deletes the network's responses from the account's deliveries, because jobs return them.
// It changes no other deliveries.
func TestEraseAccountDeliveries(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w env) {
		account := w.createAccount(t, w.team)
		w.createPosts(t, w.team, account, 2)
		var erased, others, left int
		must.NoError(t, w.DB.InTx(t.Context(), "test.erase", func(ctx context.Context, tx *db.Tx) error {
			const filled = `SELECT COUNT(*) FROM deliveries WHERE permalink <> '' AND network_id <> '' AND network_text <> ''`
			if _, err := tx.Exec(ctx, `UPDATE deliveries SET permalink = 'p', network_id = 'n', network_text = 't'`); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, `UPDATE post_targets SET parts = '[]', first_comment = '{"id":"1"}'`); err != nil {
				return err
			}
			if err := eraseAccount(ctx, tx, w.team, account+1, "bluesky"); err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, filled).Scan(&others); err != nil {
				return err
			}
			if err := eraseAccount(ctx, tx, w.team, account, "bluesky"); err != nil {
				return err
			}
			if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM post_targets WHERE parts <> '' OR first_comment <> ''`).
				Scan(&left); err != nil {
				return err
			}
			return tx.QueryRow(ctx, `SELECT COUNT(*) FROM deliveries WHERE permalink = '' AND network_id = '' AND network_text = ''`).
				Scan(&erased)
		}))
		if others != 2 || erased != 2 || left != 0 {
			t.Errorf("%d deliveries of another account remain, %d are erased, %d results are left", others, erased, left)
		}
	})
}
