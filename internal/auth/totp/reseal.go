package totp

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
)

var errSealing = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) does not hold every key that people's " +
	"authenticator apps were sealed with; append the missing key after a comma, and remove it once pressroom admin " +
	"reseal prints 0 as left")

var secrets = tokencrypt.Column{Table: "totp_secrets", Name: "sealed", Row: "person_id", Owner: "person_id",
	AssociatedData: associatedData}

// CheckSealing returns an error if the keys cannot open every secret.
func (s *Service) CheckSealing(ctx context.Context) error {
	known, err := secrets.KnowsAll(ctx, s.db, s.sealer)
	if err == nil && !known {
		err = errSealing
	}
	return err
}

// Reseal seals all secrets with the first key that were sealed with other keys. It returns the number of resealed
// secrets, and the number that were sealed with other keys in the meantime.
func (s *Service) Reseal(ctx context.Context) (int, int, error) {
	resealed, err := secrets.Reseal(ctx, s.db, s.sealer)
	if err != nil {
		return resealed, 0, err
	}
	left, err := secrets.CountOutdated(ctx, s.db, s.sealer)
	return resealed, left, err
}
