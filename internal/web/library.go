package web

import (
	"context"

	"pressroom/internal/domain/media"
	"pressroom/internal/web/compose"
)

// Library is what the app asks of the media library. Whoever may not see a thing is told that it is not there.
type Library interface {
	compose.Library
	Batch(ctx context.Context, person int64, id string) (media.Batch, error)
	CheckBatchForm(ctx context.Context, person int64, batch string, length int64) error
	AddToBatch(ctx context.Context, person int64, batch string, f media.Incoming) (media.Arrived, error)
	CloseBatch(ctx context.Context, person int64, batch string) error
	OpenFile(ctx context.Context, person, id int64, thumbnail bool) (media.Opened, error)
	OpenOriginal(ctx context.Context, person, id int64) (media.Opened, error)
	Link(ctx context.Context, id, secret string) (media.VerifiedLink, error)
	Receive(ctx context.Context, link media.VerifiedLink, f media.Incoming) (media.Arrived, error)
	Public(ctx context.Context, token string) (media.Opened, error)
}
