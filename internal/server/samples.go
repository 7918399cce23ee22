package server

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"pressroom/internal/domain/media"
)

// addSampleMedia adds two pictures to the demo team's library and returns the ID of the first.
func (q *Quickstart) addSampleMedia(ctx context.Context, team int64) ([]any, error) {
	ids := []any{}
	for _, p := range []struct {
		name, alt string
		sky, sea  color.RGBA
	}{
		{
			"Harbour at sunrise.png", "The sun rises over a calm harbour.",
			color.RGBA{250, 190, 120, 255}, color.RGBA{60, 90, 140, 255},
		},
		{
			"Harbour at noon.png", "The sun stands over a calm harbour.",
			color.RGBA{150, 205, 245, 255}, color.RGBA{30, 110, 150, 255},
		},
	} {
		var raw bytes.Buffer
		if err := png.Encode(&raw, harbour(1080, p.sky, p.sea)); err != nil {
			return nil, fmt.Errorf("drawing a sample picture: %w", err)
		}
		added, err := q.Media.Add(ctx, media.Owner{TeamID: team}, media.Incoming{Name: p.name, Body: &raw})
		if err != nil {
			return nil, fmt.Errorf("adding a sample picture: %w", err)
		}
		if err := q.Media.Describe(ctx, q.owner, added.MediaID, p.alt); err != nil {
			return nil, fmt.Errorf("describing a sample picture: %w", err)
		}
		if len(ids) == 0 {
			ids = append(ids, added.MediaID)
		}
	}
	return ids, nil
}

// harbour draws a sun over water as a square picture.
func harbour(size int, sky, sea color.RGBA) image.Image {
	const drawn, horizon = 1080, 700 // coordinates below are for 1080 pixels
	img := image.NewRGBA(image.Rect(0, 0, size, size))
	for row := range size {
		for column := range size {
			x, y := column*drawn/size, row*drawn/size
			c := shade(sky, float64(y)/horizon)
			if y > horizon {
				wave := 0.15 * math.Sin(float64(y*y)/900+math.Sin(float64(x)/70))
				c = shade(sea, 0.4+wave)
			}
			if y <= horizon && math.Hypot(float64(x-drawn/2), float64(y-520)) < 130 {
				c = color.RGBA{255, 240, 200, 255}
			}
			img.SetRGBA(column, row, c)
		}
	}
	return img
}

// shade returns a lighter color, from 0 (unchanged) to 1 (nearly white).
func shade(c color.RGBA, by float64) color.RGBA {
	to := func(v uint8) uint8 { return uint8(float64(v) + (255-float64(v))*math.Max(0, math.Min(1, by))*0.6) }
	return color.RGBA{to(c.R), to(c.G), to(c.B), 255}
}
