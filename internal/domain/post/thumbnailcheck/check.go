// Package thumbnailcheck validates the images that options select from the library, such as the thumbnail of a YouTube
// video.
package thumbnailcheck

import (
	"context"
	"errors"
	"maps"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// Library provides a team's media.
type Library interface {
	// ForPost returns media by ID. It returns not_found if the team does not have all of them.
	ForPost(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
}

// Check returns an error if the options select a thumbnail or cover that is not an image in the team's library.
func Check(ctx context.Context, q db.Querier, library Library, team int64, o network.Options) error {
	images := o.MediaFields()
	for _, argument := range slices.Sorted(maps.Keys(images)) {
		if err := check(ctx, q, library, team, argument, images[argument]); err != nil {
			return err
		}
	}
	return nil
}

func check(ctx context.Context, q db.Querier, library Library, team int64, argument string, id int64) error {
	found, err := library.ForPost(ctx, q, team, []int64{id})
	if rejected, ok := errors.AsType[*apierr.Error](err); ok && rejected.Code == apierr.NotFound {
		return apierr.ItemNotFound().With("argument", argument)
	}
	if err != nil {
		return err
	}
	if len(found) != 1 || found[0].Kind != network.Image {
		return apierr.Invalid(apierr.NotAllowedValue, argument, "A thumbnail or cover must be an image.")
	}
	return nil
}
