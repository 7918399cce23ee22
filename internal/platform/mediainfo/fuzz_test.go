package mediainfo_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

func FuzzJPEG(f *testing.F) { fuzz(f, "progressive.jpg") }
func FuzzPNG(f *testing.F)  { fuzz(f, "animated.png", "interlaced.png") }
func FuzzGIF(f *testing.F)  { fuzz(f, "animated.gif") }
func FuzzWebP(f *testing.F) {
	fuzz(f, "lossy.webp", "lossless.webp", "alpha.webp", "animated.webp")
}

func FuzzMP4(f *testing.F) {
	f.Add(newFilm().bytes())
	fuzz(f, "end.mp4", "front.mp4", "fragmented.mp4", "indexed.mp4", "turned.mp4", "mp3.mp4", "sound.mp4", "plain.mov")
}

// counted counts the bytes read from a file.
type counted struct {
	io.ReaderAt
	bytes int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.bytes += int64(len(p))
	return c.ReaderAt.ReadAt(p, off)
}

func fuzz(f *testing.F, seeds ...string) {
	f.Helper()
	for _, name := range seeds {
		f.Add(load(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &counted{ReaderAt: bytes.NewReader(data)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		info, err := mediainfo.Read(r, int64(len(data)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 {
			t.Errorf("%d bytes of memory allocated", took)
		}
		if r.bytes > 48<<20 {
			t.Errorf("%d bytes read", r.bytes)
		}
		if err != nil {
			if !errors.Is(err, mediainfo.ErrDamaged) && !errors.Is(err, mediainfo.ErrType) {
				t.Errorf("of another kind: %v", err)
			}
			return
		}
		checkInfo(t, info)
	})
}

func checkInfo(t *testing.T, info mediainfo.Info) {
	t.Helper()
	still := info.Kind == mediainfo.Image
	switch {
	case !strings.HasPrefix(info.Type, info.Kind+"/"):
		t.Errorf("no type: %+v", info)
	case info.Width < 1, info.Height < 1, info.Width > mediainfo.MaxSide, info.Height > mediainfo.MaxSide:
		t.Errorf("no size: %+v", info)
	case still && (info.Width*info.Height > mediainfo.MaxPixels || info.DecodeBytes < 1 || info.Duration != 0):
		t.Errorf("no image: %+v", info)
	case !still && (info.Duration <= 0 || info.Duration > mediainfo.MaxDuration || info.Animated):
		t.Errorf("no video: %+v", info)
	case math.IsNaN(info.FrameRate), info.FrameRate < 0, info.FrameRate > 1000, info.Orientation < 1, info.Orientation > 8:
		t.Errorf("no figures: %+v", info)
	}
}
