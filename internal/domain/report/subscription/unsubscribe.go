package subscription

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Path is the path prefix of the page where a recipient unsubscribes, under the public URL. The recipient's token
// follows it.
const Path = "/unsubscribe/"

const (
	idSize        = 8  // bytes of a recipient's ID in a token
	signatureSize = 16 // bytes of the signature of a token
)

var encoding = base64.RawURLEncoding.Strict()

// token returns a recipient's signed token. The token does not expire.
func (s *Service) token(recipient int64) string {
	body := binary.BigEndian.AppendUint64(nil, uint64(recipient)) //nolint:gosec // IDs are positive
	return encoding.EncodeToString(append(body, s.signer.Sign(body)[:signatureSize]...))
}

// parseToken returns the recipient's ID in a token. It returns not_found for an invalid token.
func (s *Service) parseToken(token string) (int64, error) {
	raw, err := encoding.DecodeString(token)
	if err != nil || len(raw) != idSize+signatureSize || !s.signer.Verify(raw[:idSize], raw[idSize:]) {
		return 0, apierr.ItemNotFound()
	}
	return int64(binary.BigEndian.Uint64(raw[:idSize])), nil //nolint:gosec // the signature was verified
}

// Subscriber holds what the unsubscribe page shows about a recipient.
type Subscriber struct {
	Team, Kind, Subject string
	Unsubscribed        bool
}

// Subscriber returns the recipient of a token. It returns not_found if the recipient was removed.
func (s *Service) Subscriber(ctx context.Context, token string) (Subscriber, error) {
	var out Subscriber
	id, err := s.parseToken(token)
	if err != nil {
		return out, err
	}
	var unsubscribedAt int64
	err = s.DB.QueryRow(ctx, `SELECT t.name, p.kind, p.subject, r.unsubscribed_at FROM report_recipients r
		JOIN reports p ON p.id = r.report_id JOIN teams t ON t.id = r.team_id WHERE r.id = ?`, id).
		Scan(&out.Team, &out.Kind, &out.Subject, &unsubscribedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading a recipient: %w", err)
	}
	out.Unsubscribed = unsubscribedAt > 0
	return out, nil
}

// Unsubscribe stops the emails to the recipient of a token and revokes the links in them. It is idempotent.
func (s *Service) Unsubscribe(ctx context.Context, token string) error {
	id, err := s.parseToken(token)
	if err != nil {
		return err
	}
	return s.DB.InTx(ctx, "report.unsubscribe", func(ctx context.Context, tx *db.Tx) error {
		var team int64
		var report string
		err := tx.QueryRow(ctx, `UPDATE report_recipients SET unsubscribed_at = ? WHERE id = ? AND unsubscribed_at = 0
			RETURNING team_id, report_id`, db.Micros(tx.Now()), id).Scan(&team, &report)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("unsubscribing a recipient: %w", err)
		}
		if err := removeLinks(ctx, tx, id); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "report.recipient_unsubscribed", report, nil)
	})
}
