package totp

import (
	"context"
	"errors"

	"pressroom/internal/seal"
)

var errSealing = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) does not hold every key that people's authenticator apps were sealed with; give the missing one too, after a comma, and remove it once pressroom admin reseal reports left=0")

var secrets = seal.Column{Table: "totp_secrets", Name: "sealed", Row: "person_id", Owner: "person_id", Bond: bond}

// CheckSealing refuses sealing keys that do not open every secret.
func (s *Service) CheckSealing(ctx context.Context) error {
	known, err := secrets.KnowsAll(ctx, s.db, s.sealer)
	if err == nil && !known {
		err = errSealing
	}
	return err
}

// Reseal seals with the first key what other keys sealed. It returns how many secrets were sealed anew, and how many another
// key sealed meanwhile.
func (s *Service) Reseal(ctx context.Context) (resealed, left int, err error) {
	if resealed, err = secrets.Reseal(ctx, s.db, s.sealer); err == nil {
		left, err = secrets.Left(ctx, s.db, s.sealer)
	}
	return resealed, left, err
}
