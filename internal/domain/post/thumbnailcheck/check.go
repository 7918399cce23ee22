// Package thumbnailcheck validates the image that is selected as the thumbnail of a YouTube video.
package thumbnailcheck

import (
	"context"
	"errors"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const argument = "options.youtube.thumbnail_media_id"

// Library provides a team's media.
type Library interface {
	// ForPost returns media by ID. It returns not_found if the team does not have all of them.
	ForPost(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
}

// Check returns an error if the options select a thumbnail that is not an image in the team's library.
func Check(ctx context.Context, q db.Querier, library Library, team int64, o network.Options) error {
	if o.YouTube == nil || o.YouTube.ThumbnailMediaID == 0 {
		return nil
	}
	found, err := library.ForPost(ctx, q, team, []int64{o.YouTube.ThumbnailMediaID})
	if rejected, ok := errors.AsType[*apierr.Error](err); ok && rejected.Code == apierr.NotFound {
		return apierr.Missing().With("argument", argument)
	}
	if err != nil {
		return err
	}
	if len(found) != 1 || found[0].Kind != network.Image {
		return apierr.Invalid(apierr.NotAllowedValue, argument, "A thumbnail must be an image.")
	}
	return nil
}
