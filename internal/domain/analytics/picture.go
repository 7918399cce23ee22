package analytics

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

const (
	pictureSide     = 128              // maximum width and height of a stored picture, in pixels
	maxPictureBytes = 5 << 20          // maximum size of a picture that is fetched
	pictureMemory   = 48 << 20         // maximum memory for scaling pictures concurrently, in bytes
	pictureTimeout  = 30 * time.Second // timeout for fetching a picture
	pictureInterval = 24 * time.Hour   // minimum time between two fetches; some networks return a new URL each time
)

// Picture is an account's profile picture, with the names to show if there is no picture.
type Picture struct {
	Platform, Name, Username string
	Type                     string // MIME type; empty if there is no picture
	Image                    []byte
	FetchedAt                time.Time
}

// Picture returns the profile picture of a team's account. It returns not_found if the team has no such account.
func (s *Service) Picture(ctx context.Context, team, account int64) (Picture, error) {
	var out Picture
	var fetchedAt int64
	err := s.db.QueryRow(ctx, `SELECT a.platform, a.display_name, a.username, COALESCE(p.type, ''), p.image,
		COALESCE(p.fetched_at, 0) FROM social_accounts a LEFT JOIN account_pictures p ON p.account_id = a.id
		WHERE a.id = ? AND a.team_id = ?`, account, team).
		Scan(&out.Platform, &out.Name, &out.Username, &out.Type, &out.Image, &fetchedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading the picture of account %d: %w", account, err)
	}
	out.FetchedAt = db.Time(fetchedAt)
	return out, nil
}

// newPicture is a picture to store. It is empty if the account has removed its picture.
type newPicture struct {
	thumbnail.Result

	source [sha256.Size]byte // hash of the picture's URL
}

// fetchPicture returns the picture at the network's URL. It returns nil if the picture is unchanged or cannot be
// fetched. It only logs failures, so that they do not fail the run.
func (s *Service) fetchPicture(ctx context.Context, run collectionRun, collected network.Collection) *newPicture {
	if collected.NoPicture {
		return &newPicture{}
	}
	url := collected.Picture
	if url == "" || s.opts.FetchPicture == nil {
		return nil
	}
	out := &newPicture{source: sha256.Sum256([]byte(url))}
	shouldFetch, err := s.shouldFetchPicture(ctx, run.account, out.source)
	if err == nil && shouldFetch {
		out.Result, err = s.scalePicture(ctx, run, url)
	}
	if err != nil && ctx.Err() == nil {
		s.opts.Log.InfoContext(ctx, "Fetching a profile picture failed", "account", run.account, "platform", run.platform,
			"error", err)
	}
	if err != nil || !shouldFetch {
		return nil
	}
	return out
}

// shouldFetchPicture reports whether to fetch a picture. It reports true if no picture is stored, or if the URL is new
// and the last fetch was at least pictureInterval ago.
func (s *Service) shouldFetchPicture(ctx context.Context, account int64, source [sha256.Size]byte) (bool, error) {
	var storedSource []byte
	var fetchedAt int64
	err := s.db.QueryRow(ctx, `SELECT source, fetched_at FROM account_pictures WHERE account_id = ?`, account).
		Scan(&storedSource, &fetchedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading when a picture was fetched: %w", err)
	}
	return !bytes.Equal(storedSource, source[:]) && s.db.Now().Sub(db.Time(fetchedAt)) >= pictureInterval, nil
}

// scalePicture fetches a picture and scales it.
func (s *Service) scalePicture(ctx context.Context, run collectionRun, url string) (thumbnail.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	var file bytes.Buffer
	if err := s.opts.FetchPicture(ctx, run.platform, url, maxPictureBytes, &file); err != nil {
		return thumbnail.Result{}, err
	}
	in := bytes.NewReader(file.Bytes())
	info, err := mediainfo.Read(in, in.Size())
	if err != nil {
		return thumbnail.Result{}, fmt.Errorf("reading the picture: %w", err)
	}
	if info.Kind != mediainfo.Image {
		return thumbnail.Result{}, fmt.Errorf("the picture has the unsupported type %s", info.Type)
	}
	return s.pictures.Thumbnail(ctx, run.account, in, info, pictureSide)
}

// storePicture stores a new picture, or deletes the stored picture if the account has removed it.
func (r *collectionRun) storePicture(ctx context.Context, tx *db.Tx, p *newPicture) error {
	if p == nil {
		return nil
	}
	if len(p.Bytes) == 0 {
		if _, err := tx.Exec(ctx, `DELETE FROM account_pictures WHERE account_id = ?`, r.account); err != nil {
			return fmt.Errorf("deleting the picture of account %d: %w", r.account, err)
		}
		return nil
	}
	_, err := tx.Exec(ctx, `INSERT INTO account_pictures (account_id, source, type, image, fetched_at)
		VALUES (?, ?, ?, ?, ?) ON CONFLICT (account_id) DO UPDATE SET source = excluded.source, type = excluded.type,
		image = excluded.image, fetched_at = excluded.fetched_at`,
		r.account, p.source[:], p.Type, p.Bytes, db.Micros(tx.Now()))
	if err != nil {
		return fmt.Errorf("storing the picture of account %d: %w", r.account, err)
	}
	return nil
}
