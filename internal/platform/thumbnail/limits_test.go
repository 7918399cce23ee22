package thumbnail_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// panicking is a reader that panics, to simulate a decoder's panic.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("a decoder's mistake") }

func TestPanic(t *testing.T) {
	t.Parallel()
	about := mediainfo.Info{Type: mediainfo.JPEG, Kind: mediainfo.Image, Width: 1, Height: 1, Orientation: 1}
	if _, err := thumbnail.New(memory).Thumbnail(t.Context(), 1, panicking{}, about, 10); !errors.Is(err, mediainfo.ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
}

// held is a reader that waits before its first read.
type held struct {
	io.Reader
	until <-chan struct{}
	begun chan<- struct{}
}

func (h held) Read(p []byte) (int, error) {
	select {
	case h.begun <- struct{}{}:
	default:
	}
	<-h.until
	return h.Reader.Read(p)
}

// TestImagesWaitForMemory checks that a second image waits for the memory of the first, and that waiting can be canceled.
func TestImagesWaitForMemory(t *testing.T) {
	t.Parallel()
	data := encodeAs(t, image.NewGray(image.Rect(0, 0, 1000, 1000)), mediainfo.PNG)
	about := info(t, data)
	synctest.Test(t, func(t *testing.T) {
		maker := thumbnail.New(6_000_000)
		until, first, second := make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 1)
		done := make(chan error, 2)
		begin := func(begun chan struct{}) {
			r := held{Reader: bytes.NewReader(data), until: until, begun: begun}
			_, err := maker.Thumbnail(t.Context(), 1, r, about, 100)
			done <- err
		}
		go begin(first)
		<-first
		go begin(second)
		synctest.Wait()
		if len(second) > 0 {
			t.Error("the second image did not wait for the first one's memory")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := maker.Thumbnail(ctx, 1, bytes.NewReader(data), about, 100); !errors.Is(err, context.Canceled) {
			t.Errorf("a call that gave up: %v, want context.Canceled", err)
		}
		close(until)
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestCancelled checks that a call can be canceled while it decodes an image.
func TestCancelled(t *testing.T) {
	t.Parallel()
	data := encodeAs(t, noise(300, 300), mediainfo.PNG)
	ctx, cancel := context.WithCancel(t.Context())
	r := io.MultiReader(bytes.NewReader(data[:5000]), readerFunc(func([]byte) (int, error) { cancel(); return 1, nil }))
	if _, err := thumbnail.New(memory).Thumbnail(ctx, 1, r, info(t, data), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

// withScans returns a progressive JPEG in which the first scan is repeated, so that it has the given number of scans.
func withScans(data []byte, scans int) []byte {
	sos := []byte("\xff\xda")
	first := bytes.Index(data, sos)
	end := first + len(sos)
	for data[end] != 0xff || data[end+1] == 0 {
		end++
	}
	return slices.Concat(data[:first], bytes.Repeat(data[first:end], 1+scans-bytes.Count(data, sos)), data[end:])
}

// TestScans checks that JPEGs with too many scans are rejected with advice.
func TestScans(t *testing.T) {
	t.Parallel()
	maker := thumbnail.New(memory)
	for scans, rejected := range map[int]bool{10: false, 64: false, 100: false, 101: true, 20_000: true} {
		data := withScans(genuine(t, "progressive.jpg"), scans)
		about := info(t, data)
		_, thumb := maker.Thumbnail(t.Context(), 1, bytes.NewReader(data), about, 10)
		_, fit := maker.Fit(t.Context(), 1, bytes.NewReader(data), about, thumbnail.Limits{MaxSide: 10})
		for _, err := range []error{thumb, fit} {
			if !rejected && err != nil ||
				rejected && (!errors.Is(err, mediainfo.ErrDamaged) || !strings.Contains(err.Error(), "baseline")) {
				t.Errorf("%d scans: %v", scans, err)
			}
		}
	}
}

// TestSlowImage checks that decoding stops if it takes too long, and that the memory is released.
func TestSlowImage(t *testing.T) {
	t.Parallel()
	data := encodeAs(t, noise(300, 300), mediainfo.PNG)
	about := info(t, data)
	synctest.Test(t, func(t *testing.T) {
		maker := thumbnail.New(about.DecodeBytes + 1<<10)
		from := bytes.NewReader(data)
		slow := readerFunc(func(p []byte) (int, error) {
			<-time.After(time.Second)
			return from.Read(p[:min(len(p), 1000)])
		})
		began := time.Now()
		_, err := maker.Thumbnail(t.Context(), 1, slow, about, 10)
		if took := time.Since(began); !errors.Is(err, thumbnail.ErrSlow) || !errors.Is(err, thumbnail.ErrBusy) || took > 31*time.Second {
			t.Errorf("%v after %v, want ErrSlow at the first read after 30 s", err, took)
		}
		if _, err := maker.Thumbnail(t.Context(), 2, bytes.NewReader(data), about, 10); err != nil {
			t.Errorf("the next image: %v", err)
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
