package bluesky_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

// library is a network.Files with media in memory. It does not convert them.
type library struct {
	items map[int64]item
	asked []network.FileLimits
}

type item struct {
	network.Media

	bytes  []byte
	failed error // returned by Open
}

func (l *library) Open(_ context.Context, id int64, fit network.FileLimits) (network.File, error) {
	l.asked = append(l.asked, fit)
	one := l.items[id]
	body := io.NopCloser(bytes.NewReader(one.bytes))
	return network.File{ReadCloser: body, Type: one.Type, Size: one.Size, Width: one.Width, Height: one.Height}, one.failed
}

// newLibrary returns a library of items, and a content with the items in this order.
func newLibrary(items ...item) (*library, network.Content) {
	l := &library{items: map[int64]item{}}
	c := network.Content{Languages: []string{"en"}}
	for i, one := range items {
		one.ID, one.Size = int64(i+1), int64(len(one.bytes))
		l.items[one.ID] = one
		c.Media = append(c.Media, one.Media)
	}
	return l, c
}

// dotImage returns an image that differs by seed.
func dotImage(width, height int, seed uint8) image.Image {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		picture.Set(x, x%height, color.RGBA{seed, uint8(x), 0, 255})
	}
	return picture
}

func pngItem(t *testing.T, width, height int, alt string) item {
	t.Helper()
	var encoded bytes.Buffer
	must.NoError(t, png.Encode(&encoded, dotImage(width, height, uint8(len(alt)))))
	return item{
		Media: network.Media{Kind: network.Image, Type: "image/png", Width: width, Height: height, Alt: alt}, bytes: encoded.Bytes(),
	}
}

func jpegItem(t *testing.T, alt string) item {
	t.Helper()
	var encoded bytes.Buffer
	must.NoError(t, jpeg.Encode(&encoded, dotImage(32, 24, uint8(len(alt))), nil))
	return item{Media: network.Media{Kind: network.Image, Type: "image/jpeg", Alt: alt}, bytes: encoded.Bytes()}
}

// mp4Item returns a video with only the header that servers check.
func mp4Item(alt string) item {
	film := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), bytes.Repeat([]byte("film"), 5000)...)
	return item{Media: network.Media{Kind: network.Video, Type: "video/mp4", Width: 1280, Height: 720, Alt: alt}, bytes: film}
}

func (l *library) Link(context.Context, int64, network.FileLimits, time.Time) (string, error) {
	return "", errors.New("Bluesky needs no links")
}
