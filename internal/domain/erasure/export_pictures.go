package erasure

import (
	"archive/zip"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// exportPictures writes the profile picture of each account as account_pictures/ID.jpg or account_pictures/ID.png.
func (s *Service) exportPictures(ctx context.Context, team int64, out *zip.Writer, keepAlive func()) error {
	return s.eachKeyPage(ctx, team, exportFile{keyColumn: "social_accounts", pageSize: defaultPageSize}, func(keys []any) error {
		keepAlive()
		for _, account := range keys {
			var kind string
			var image []byte
			var fetchedAt int64
			err := s.DB.QueryRow(ctx, `SELECT type, image, fetched_at FROM account_pictures WHERE account_id = ?`, account).
				Scan(&kind, &image, &fetchedAt)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return fmt.Errorf("reading the picture of an account: %w", err)
			}
			name := fmt.Sprintf("account_pictures/%v.jpg", account)
			if kind == "image/png" {
				name = fmt.Sprintf("account_pictures/%v.png", account)
			}
			w, err := out.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store, Modified: db.Time(fetchedAt)})
			if err == nil {
				_, err = w.Write(image)
			}
			if err != nil {
				return fmt.Errorf("writing the picture of an account: %w", err)
			}
		}
		return nil
	})
}
