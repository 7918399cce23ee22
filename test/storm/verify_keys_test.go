package storm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"

	"pressroom.example/pressroom/internal/platform/blob"
)

// files compares each uploaded file, byte by byte.
func (r *verifier) files(ctx context.Context) error {
	store, err := blob.Open(ctx, r.blobs, blob.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	for _, f := range r.book.sent {
		var key string
		var there []byte
		err := r.db.QueryRow(ctx, `SELECT blob, sha256 FROM media WHERE id = ? AND team_id = ?`, f.media, f.team.ID).Scan(&key, &there)
		if err != nil {
			r.complainf("lost", "reading the file %s of %d bytes, item %d: %v", f.digest, f.bytes, f.media, err)
			continue
		}
		if got, err := digestOf(ctx, store, key); err != nil || got != f.digest || hex.EncodeToString(there) != f.digest {
			r.complainf("bytes", "item %d differs from the uploaded file: %v", f.media, err)
		}
	}
	var double int
	err = r.db.QueryRow(ctx,
		`SELECT COUNT(*) FROM (SELECT team_id, sha256 FROM media GROUP BY team_id, sha256 HAVING COUNT(*) > 1) d`).Scan(&double)
	if double > 0 {
		r.complainf("doubled", "%d files are stored twice in a library", double)
	}
	return err
}

func digestOf(ctx context.Context, store blob.Store, key string) (string, error) {
	body, err := store.Open(ctx, key)
	if err != nil {
		return "", err
	}
	defer body.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, body); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// keys checks that each key exists once, works, and no longer works after revocation.
func (r *verifier) keys(ctx context.Context) error {
	for _, k := range r.book.keys {
		var n, live int
		err := r.db.QueryRow(ctx,
			`SELECT COUNT(*), COALESCE(SUM(CASE WHEN revoked_at = 0 THEN 1 ELSE 0 END), 0) FROM api_keys
		WHERE team_id = ? AND name = ?`, k.team.ID, k.name).Scan(&n, &live)
		switch {
		case err != nil:
			return err
		case n > 1:
			r.complainf("doubled", "%s was created %d times", k.name, n)
		case n == 0 && k.value != "":
			r.complainf("lost", "%s does not exist", k.name)
		case k.revoked && live > 0:
			r.complainf("lost", "%s was revoked but is active", k.name)
		}
		if err := r.keyEvents(ctx, k, n, n-live); err != nil {
			return err
		}
		if k.value == "" {
			continue
		}
		a := r.reader.do(call{tool: "get_identity", method: http.MethodGet, path: "/me", key: &apiKey{value: k.value}})
		if works := a.ok(); works == k.revoked {
			r.complainf("wrong", "%s, revoked %v, gets the response %s", k.name, k.revoked, a.outcome())
		}
	}
	return nil
}

// keyEvents checks the number of events about the creation and revocation of a key.
func (r *verifier) keyEvents(ctx context.Context, k *madeKey, made, revoked int) error {
	var created, ended int
	err := r.db.QueryRow(ctx,
		`SELECT COALESCE(SUM(CASE WHEN e.kind = 'key.created' THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN e.kind =
		'key.revoked' THEN 1 ELSE 0 END), 0)
		FROM events e JOIN api_keys k ON CAST(k.id AS TEXT) = e.subject AND k.team_id = e.team_id
		WHERE k.team_id = ? AND k.name = ? AND e.kind IN ('key.created', 'key.revoked')`, k.team.ID, k.name).Scan(&created, &ended)
	if err == nil && (created != made || ended != revoked) {
		r.complainf("event", "%s was created %d times and revoked %d times, but has %d and %d events of these kinds", k.name,
			made, revoked, created, ended)
	}
	return err
}
