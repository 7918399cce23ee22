package attachment

import (
	"context"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// ReadOptions returns the media that options use. Deleted media have Gone set.
func ReadOptions(
	ctx context.Context, q db.Querier, library Library, team int64, o network.Options,
) ([]network.Media, error) {
	var out []network.Media
	for _, id := range o.MediaIDs() {
		found, err := library.ForPostWithDeleted(ctx, q, team, []int64{id})
		switch {
		case apierr.Is(err, apierr.NotFound):
			found = []network.Media{{ID: id, Gone: true}}
		case err != nil:
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// UsedByOptions returns the IDs of the media that options use. It omits deleted media. media is the result of
// ReadOptions.
func UsedByOptions(o network.Options, media []network.Media) []int64 {
	return slices.DeleteFunc(o.MediaIDs(), func(id int64) bool {
		return !slices.ContainsFunc(media, func(m network.Media) bool { return m.ID == id && !m.Gone })
	})
}

// LacksOptions reports whether the options for a platform use a deleted file.
func LacksOptions(o network.Options, media []network.Media, platform string) bool {
	return slices.ContainsFunc(media, func(m network.Media) bool {
		return m.Gone && slices.Contains(o.MediaIDsFor(platform), m.ID)
	})
}
