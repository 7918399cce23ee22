package stripmeta_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/image/webp"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

func FuzzJPEG(f *testing.F) {
	f.Add(insertAt(encodeAs(f, "jpeg"), 2, segment(0xfe, []byte(secret))))
	fuzz(f, mediainfo.JPEG, jpeg.Decode, "progressive.jpg")
}

func FuzzProfile(f *testing.F) {
	f.Add(profile)
	for _, p := range plantedProfiles([]byte(secret)) {
		f.Add(p)
	}
	photo := encodeAs(f, "jpeg")
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) < 60_000 {
			checkStrip(t, insertAt(photo, 2, segment(0xe2, []byte("ICC_PROFILE\x00\x01\x01"), p)), mediainfo.JPEG)
		}
	})
}

func FuzzPNG(f *testing.F) {
	f.Add(insertAt(encodeAs(f, "png"), 33, newPNGChunk("tEXt", []byte(secret))))
	fuzz(f, mediainfo.PNG, png.Decode, "animated.png", "interlaced.png")
}

func FuzzGIF(f *testing.F) {
	f.Add(encodeAs(f, "gif"))
	fuzz(f, mediainfo.GIF, gif.Decode, "animated.gif")
}

func FuzzWebP(f *testing.F) {
	fuzz(f, mediainfo.WebP, webp.Decode, "lossy.webp", "lossless.webp", "alpha.webp", "animated.webp")
}

func FuzzMP4(f *testing.F) {
	at := uint32(mdatAt + len(pictures))
	tables := [][]byte{box("stsc", u32(0, 1, 1, 3, 1)), box("stco", u32(0, 1, at)), box("stsz", u32(0, 0, 3, 18, 1, 18))}
	f.Add(film{mdat: []byte(samples), meta: telemetry("meta", tables...), moov: box("udta", []byte(secret))}.bytes())
	fuzz(f, mediainfo.MP4, nil, "end.mp4", "front.mp4", "fragmented.mp4", "indexed.mp4", "plain.mov")
}

// fuzz checks that stripping keeps the properties and pixels, is idempotent, and uses little memory.
func fuzz(f *testing.F, mime string, decode func(io.Reader) (image.Image, error), seeds ...string) {
	f.Helper()
	for _, name := range seeds {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		edits, err := stripmeta.Scan(bytes.NewReader(data), int64(len(data)), mime)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%d bytes of memory allocated", took)
		}
		if err != nil {
			if !errors.Is(err, mediainfo.ErrDamaged) {
				t.Errorf("of another kind: %v", err)
			}
			return
		}
		clean := apply(t, edits, data)
		again, err := stripmeta.Scan(bytes.NewReader(clean), int64(len(clean)), mime)
		if err != nil || !again.Empty() {
			t.Errorf("a clean file is not clean: %v", err)
		}
		same(t, data, clean, decode)
	})
}

func same(t *testing.T, data, clean []byte, decode func(io.Reader) (image.Image, error)) {
	t.Helper()
	want, err := mediainfo.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil || want.Width*want.Height > 1<<16 {
		return
	}
	if decode == nil {
		if got, err := mediainfo.Read(bytes.NewReader(clean), int64(len(clean))); err != nil || got != want {
			t.Errorf("%+v (%v), want %+v", got, err, want)
		}
		if chunks, err := readableSamples(data); err == nil && !slices.Equal(chunks, readSamples(clean)) {
			t.Error("different samples")
		}
		return
	}
	pixels, err := decode(bytes.NewReader(data))
	if err != nil {
		return
	}
	if got, err := decode(bytes.NewReader(clean)); err != nil || !reflect.DeepEqual(got, pixels) {
		t.Errorf("different pixels: %v", err)
	}
}

// readableSamples returns the result of readSamples, or an error for unreadable tables.
func readableSamples(data []byte) (_ []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("following the tables: %v", p)
		}
	}()
	return readSamples(slices.Clip(data)), nil
}
