package totp

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
)

var errSealing = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) does not contain every key that people's " +
	"authenticator apps were sealed with; append the missing key after a comma, and remove it once pressroom admin " +
	"reseal prints 0 as left")

var secrets = tokencrypt.Column{Table: "totp_secrets", Name: "sealed", RowColumn: "person_id", Owner: "person_id",
	AssociatedData: associatedData}

// CheckSealing returns an error if a secret was sealed with a key that the service does not have.
func (s *Service) CheckSealing(ctx context.Context) error {
	ok, err := secrets.KnowsAll(ctx, s.db, s.sealer)
	if err == nil && !ok {
		err = errSealing
	}
	return err
}

// Reseal finds all secrets that were not sealed with the first key and seals them with it. It returns the number of
// resealed secrets, and the number of secrets that are still sealed with other keys.
func (s *Service) Reseal(ctx context.Context) (int, int, error) {
	resealed, err := secrets.Reseal(ctx, s.db, s.sealer)
	if err != nil {
		return resealed, 0, err
	}
	left, err := secrets.CountOutdated(ctx, s.db, s.sealer)
	return resealed, left, err
}
