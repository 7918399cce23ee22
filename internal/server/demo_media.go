package server

import (
	"bytes"
	"context"
	"embed"
	"fmt"

	"pressroom.example/pressroom/internal/domain/media"
)

//go:embed demo/*.jpg
var demoPictures embed.FS

// demoMedia is the demo team's library.
var demoMedia = []struct{ file, name, alt string }{
	{"quay", "Harbour at dusk.jpg", "Two sailing boats on calm water at sunset."},
	{"shop", "The shop.jpg", "A green shop front with a striped awning. Two people sit behind the lit window."},
	{"barista", "Abeba at the bar.jpg", "A smiling barista in a green apron holds up a white cup."},
	{"roaster", "The big roaster.jpg", "A black drum roaster in front of a brick wall, with a tray of brown beans."},
	{"pour", "Pour-over.jpg", "Water runs from a kettle into a coffee filter on a glass carafe."},
	{"cups", "New cups.jpg", "Green, orange, white, sand and blue cups on two wooden shelves."},
	{"iced", "Cold brew.jpg", "A tall glass of iced coffee with milk and a green straw."},
	{"latte", "Latte art.jpg", "A cup of coffee with a leaf of milk foam, seen from above."},
	{"market", "Winter market.jpg", "Market stalls with striped roofs under strings of lights in the snow."},
	{"beans", "Winter blend.jpg", "A green bag with a label of waves stands among coffee beans."},
}

func demoPicture(file string) ([]byte, error) {
	raw, err := demoPictures.ReadFile("demo/" + file + ".jpg")
	if err != nil {
		return nil, fmt.Errorf("reading a sample picture: %w", err)
	}
	return raw, nil
}

// addSampleMedia adds the pictures to the demo team's library. It returns their media IDs by file name.
func (q *Quickstart) addSampleMedia(ctx context.Context, team int64) (map[string]int64, error) {
	ids := map[string]int64{}
	for _, p := range demoMedia {
		raw, err := demoPicture(p.file)
		if err != nil {
			return nil, err
		}
		added, err := q.Media.Add(ctx, media.Owner{TeamID: team}, media.Incoming{Name: p.name, Body: bytes.NewReader(raw)})
		if err != nil {
			return nil, fmt.Errorf("adding a sample picture: %w", err)
		}
		if err := q.Media.Describe(ctx, q.owner, added.MediaID, p.alt); err != nil {
			return nil, fmt.Errorf("describing a sample picture: %w", err)
		}
		ids[p.file] = added.MediaID
	}
	return ids, nil
}
