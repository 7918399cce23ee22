package erasure

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Meta requests the deletion of a person's data with a signed request of two base64url parts, separated by a period.
// The second part is JSON. The first part is the HMAC-SHA256 of the second part, with the app's secret as the key.
// Source: Meta for Developers, Data Deletion Request Callback, November 2026.

// deletionRequest is the decoded second part of a signed request.
type deletionRequest struct {
	Algorithm string      `json:"algorithm"`
	UserID    json.Number `json:"user_id"` // a string or a number
}

var errSignature = apierr.Invalid(apierr.Malformed, "signed_request",
	"The request is not signed by an app of this installation.")

// verifyRequest checks a signed request. It returns the apps (keys of MetaSecrets) whose secret signed the request, and
// the user's ID. Several apps can have the same secret.
func (s *Service) verifyRequest(request string) ([]string, string, error) {
	mac, payload, ok := strings.Cut(request, ".")
	signature, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(mac, "="))
	if !ok || err != nil {
		return nil, "", errSignature
	}
	var platforms []string
	for platform, secret := range s.MetaSecrets {
		h := hmac.New(sha256.New, []byte(secret))
		h.Write([]byte(payload))
		// Ignore empty secrets, because anyone could sign with them.
		if secret != "" && hmac.Equal(signature, h.Sum(nil)) {
			platforms = append(platforms, platform)
		}
	}
	if len(platforms) == 0 {
		return nil, "", errSignature
	}
	slices.Sort(platforms)
	user, err := readUserID(payload)
	return platforms, user, err
}

// readUserID returns the user's ID in the payload of a signed request.
func readUserID(payload string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(payload, "="))
	if err != nil {
		return "", errSignature
	}
	var request deletionRequest
	if err := json.Unmarshal(raw, &request); err != nil || !strings.EqualFold(request.Algorithm, "HMAC-SHA256") ||
		request.UserID == "" {
		return "", errSignature
	}
	return request.UserID.String(), nil
}

// HandleMetaRequest handles a signed deletion request from Meta. It deletes the data of the user's accounts in every
// team and returns a code that lets the user check the result. If the same request arrives again, it returns the same
// code and does not delete anything, so that accounts connected in the meantime are kept.
func (s *Service) HandleMetaRequest(ctx context.Context, request string) (string, error) {
	platforms, user, err := s.verifyRequest(request)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(request))
	requestHash, code := hex.EncodeToString(sum[:]), ""
	err = s.DB.InTx(ctx, "leaving.network_asks", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `SELECT code FROM network_deletions WHERE request = ?`, requestHash).Scan(&code)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		code = rand.Text()
		accounts, err := eraseAccounts(ctx, tx, platforms, user)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx,
			`INSERT INTO network_deletions (code, app, accounts, asked_at, request) VALUES (?, ?, ?, ?, ?)`, code,
			strings.Join(platforms, " "), accounts, db.Micros(tx.Now()), requestHash)
		if err != nil {
			return fmt.Errorf("storing a network's request: %w", err)
		}
		return nil
	})
	return code, err
}

// InstagramByFacebook is the key in MetaSecrets for the app that connects Instagram accounts through Facebook Login.
// Its users are Facebook users.
const InstagramByFacebook = "instagram_facebook"

// metaSubject returns the platform of a Meta app, and the holder (see network.Grant) that identifies the user in the
// grants of that app.
func metaSubject(app, user string) (string, string) {
	if app == InstagramByFacebook {
		return "instagram", "facebook:" + user
	}
	return app, app + ":" + user
}

// eraseAccounts deletes the data of all social accounts that a user connected with the given apps, in every team, and
// returns the number of accounts.
func eraseAccounts(ctx context.Context, tx *db.Tx, apps []string, user string) (int, error) {
	type account struct{ id, team int64 }
	total := 0
	for _, app := range apps {
		platform, holder := metaSubject(app, user)
		accounts, err := db.All(ctx, tx, func(rows *sql.Rows, a *account) error { return rows.Scan(&a.id, &a.team) },
			`SELECT id, team_id FROM social_accounts WHERE platform = ? AND (network_id = ? OR grant_holder = ?)
		ORDER BY id`, platform, user, holder)
		if err != nil {
			return 0, fmt.Errorf("finding the accounts of a deletion request: %w", err)
		}
		for _, a := range accounts {
			if err := eraseAccount(ctx, tx, a.team, a.id, platform); err != nil {
				return 0, err
			}
		}
		// Cancel pending revocations, because the network has already revoked the grant.
		if _, err := tx.Exec(ctx, `DELETE FROM grant_revocations WHERE holder = ? AND next_at > 0`,
			holder); err != nil {
			return 0, fmt.Errorf("deleting the grants of a network's user: %w", err)
		}
		total += len(accounts)
	}
	return total, nil
}

// eraseAccount deletes the grant, names and metrics of an account. It keeps the team's posts.
func eraseAccount(ctx context.Context, tx *db.Tx, team, account int64, platform string) error {
	if _, err := execAll(ctx, tx, []any{account},
		`DELETE FROM account_posts WHERE account_id = ?`,
		`DELETE FROM account_days WHERE account_id = ?`,
		`DELETE FROM account_collections WHERE account_id = ?`,
		`DELETE FROM account_pictures WHERE account_id = ?`,
		`DELETE FROM grant_revocations WHERE account_id = ?`,
		`UPDATE post_targets SET permalink = '', network_id = '', network_text = '', parts = '', first_comment = ''
		WHERE account_id = ?`,
		`UPDATE delivery_attempts SET network_text = '' WHERE delivery_id IN (SELECT d.id FROM post_targets t
		JOIN deliveries d ON d.post_id = t.post_id AND d.account_id = t.account_id WHERE t.account_id = ?)`,
		`UPDATE deliveries SET permalink = '', network_id = '', network_text = '' WHERE id IN (SELECT d.id FROM post_targets t
		JOIN deliveries d ON d.post_id = t.post_id AND d.account_id = t.account_id WHERE t.account_id = ?)`,
		`UPDATE social_accounts
		SET network_id = 'deleted ' || id, username = 'deleted', display_name = 'deleted', connection_state = 'lost',
		connection_probe = '', account_status = '', grant_holder = '',
			grant_version = grant_version + 1, refreshing_until = 0, refresh_at = 0, ends_at = 0
		WHERE id = ?`); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx,
		`UPDATE social_accounts SET sealed_grant = ?, disconnected_at = ?, updated_at = ? WHERE id = ?`, []byte{},
		db.Micros(tx.Now()), db.Micros(tx.Now()), account); err != nil {
		return fmt.Errorf("deleting the grant of account %d: %w", account, err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "social_account.erased", strconv.FormatInt(account, 10),
		map[string]any{"platform": platform})
}

// ErasureResult is the result of a deletion request.
type ErasureResult struct {
	App      string
	Accounts int64
	At       time.Time
}

// ErasureStatus returns the result of the deletion request with this code. It returns not_found for an unknown code.
func (s *Service) ErasureStatus(ctx context.Context, code string) (ErasureResult, error) {
	var out ErasureResult
	var erasedAt int64
	err := s.DB.QueryRow(ctx, `SELECT app, accounts, asked_at FROM network_deletions WHERE code = ?`,
		code).Scan(&out.App, &out.Accounts, &erasedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading the result of a network's request: %w", err)
	}
	out.At = db.Time(erasedAt)
	return out, nil
}
