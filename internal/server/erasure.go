package server

import (
	"context"
	"errors"
	"io"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/erasure"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
)

// buildErasure builds the deletion and export of data.
func (s *Server) buildErasure() {
	secrets := map[string]string{}
	if s.cfg.Networks.Secret != nil {
		for platform, name := range map[string]string{
			"facebook": "FACEBOOK", "instagram": "INSTAGRAM", erasure.InstagramByFacebook: "INSTAGRAM_FACEBOOK",
			"threads": "THREADS",
		} {
			secrets[platform] = s.cfg.Networks.Secret(name)
		}
	}
	s.Erasure = erasure.New(erasure.Options{
		DB: s.db, MetaSecrets: secrets,
		Refund: func(ctx context.Context, tx *db.Tx, reservation int64) error {
			_, err := s.Credits.Refund(ctx, tx, reservation)
			return err
		},
		Disconnect: func(ctx context.Context, person, team, account int64) error {
			_, err := s.Accounts.Disconnect(ctx, person, team, account)
			return err
		},
		Open: func(ctx context.Context, team, id int64) (io.ReadCloser, error) {
			opened, err := s.Media.OpenForExport(ctx, team, id)
			if errors.Is(err, blob.ErrNotFound) { // the export continues without the file; the audit reports the missing file
				return nil, apierr.ItemNotFound().Wrap(err)
			}
			return opened, err
		},
	})
}
