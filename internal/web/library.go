package web

import (
	"context"

	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/web/compose"
)

// Library is the media library. Its methods return not_found for items that the person must not see.
type Library interface {
	compose.Library
	Batch(ctx context.Context, person int64, id string) (media.Batch, error)
	CheckBatchForm(ctx context.Context, person int64, batch string, length int64) error
	AddToBatch(ctx context.Context, person int64, batch string, f media.Incoming) (media.AddResult, error)
	CloseBatch(ctx context.Context, person int64, batch string) error
	OpenFile(ctx context.Context, person, id int64, thumbnail bool) (media.File, error)
	OpenOriginal(ctx context.Context, person, id int64) (media.File, error)
	Link(ctx context.Context, id, secret string) (media.VerifiedLink, error)
	Receive(ctx context.Context, link media.VerifiedLink, f media.Incoming) (media.AddResult, error)
	OpenPublic(ctx context.Context, token string) (media.File, error)
}
