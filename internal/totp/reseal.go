package totp

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom/internal/db"
)

var errSealing = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) does not hold every key that people's authenticator apps were sealed with; give the missing one too, after a comma, and remove it once pressroom admin reseal reports left=0")

// CheckSealing refuses sealing keys that do not open every secret. It reads one entry of an index for each key.
func (s *Service) CheckSealing(ctx context.Context) error {
	for last := []byte{}; ; {
		var next []byte
		err := s.db.QueryRow(ctx, `SELECT COALESCE((SELECT substr(sealed, 1, 5) FROM totp_secrets WHERE substr(sealed, 1, 5) > ? ORDER BY substr(sealed, 1, 5) LIMIT 1), '')`, last).Scan(&next)
		switch {
		case err != nil:
			return fmt.Errorf("looking which keys sealed authenticator apps: %w", err)
		case len(next) == 0:
			return nil
		case !s.sealer.Knows(next):
			return errSealing
		}
		last = next
	}
}

const resealBatch = 100

// Reseal seals with the first key what other keys sealed. It returns how many secrets were sealed anew, and how many another
// key sealed meanwhile.
func (s *Service) Reseal(ctx context.Context) (resealed, left int, err error) {
	for after := int64(0); ; {
		found, err := s.sealedByOthers(ctx, after)
		if err != nil {
			return resealed, 0, err
		}
		if len(found) == 0 {
			break
		}
		for _, one := range found {
			done, err := s.reseal(ctx, one)
			if err != nil {
				return resealed, 0, fmt.Errorf("sealing the secret of person %d anew: %w", one.person, err)
			}
			if done {
				resealed++
			}
		}
		after = found[len(found)-1].person
	}
	rest, err := s.sealedByOthers(ctx, 0)
	return resealed, len(rest), err
}

type sealed struct {
	person int64
	text   []byte
}

func (s *Service) sealedByOthers(ctx context.Context, after int64) ([]sealed, error) {
	mark := s.sealer.Mark()
	out, err := db.All(ctx, s.db, func(r *sql.Rows, one *sealed) error { return r.Scan(&one.person, &one.text) },
		`SELECT person_id, sealed FROM totp_secrets WHERE person_id > ? AND (substr(sealed, 1, 5) < ? OR substr(sealed, 1, 5) > ?) ORDER BY person_id LIMIT ?`, after, mark, mark, resealBatch)
	if err != nil {
		return nil, fmt.Errorf("looking for secrets that another key sealed: %w", err)
	}
	return out, nil
}

// reseal seals one secret anew, unless it was changed since it was read.
func (s *Service) reseal(ctx context.Context, one sealed) (bool, error) {
	plain, err := s.sealer.Open(one.text, bond(one.person))
	if err != nil {
		return false, err
	}
	anew, err := s.sealer.Seal(plain, bond(one.person))
	if err != nil {
		return false, err
	}
	var n int64
	err = s.db.Write(ctx, "totp.reseal", func(ctx context.Context, tx *db.Tx) error {
		n, err = tx.Exec(ctx, `UPDATE totp_secrets SET sealed = ? WHERE person_id = ? AND sealed = ?`, anew, one.person, one.text)
		return err
	})
	return n == 1, err
}
