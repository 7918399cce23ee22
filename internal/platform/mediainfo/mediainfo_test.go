package mediainfo_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

func read(data []byte) (mediainfo.Info, error) {
	return mediainfo.Read(bytes.NewReader(data), int64(len(data)))
}

func load(tb testing.TB, name string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// TestMatchesFFprobe compares the results for files of other programs with the results of ffprobe and exiftool.
func TestMatchesFFprobe(t *testing.T) {
	t.Parallel()
	video := mediainfo.Info{
		Type: mediainfo.MP4, Kind: mediainfo.Video, Width: 160, Height: 90, Orientation: 1, Duration: 2 * time.Second,
		VideoCodec: "h264", AudioCodec: "aac", FrameRate: 25,
	}
	still := mediainfo.Info{Kind: mediainfo.Image, Width: 80, Height: 40, Orientation: 1}
	with := func(info mediainfo.Info, change func(*mediainfo.Info)) mediainfo.Info {
		change(&info)
		return info
	}
	webp := func(animated bool, bytes int64) mediainfo.Info {
		return with(still, func(i *mediainfo.Info) { i.Type, i.Animated, i.DecodeBytes = mediainfo.WebP, animated, bytes })
	}
	const macroblocks = 5 * 3 * 400
	for name, want := range map[string]mediainfo.Info{
		"end.mp4":        video,
		"front.mp4":      video,
		"fragmented.mp4": video,
		"indexed.mp4":    video,
		"plain.mov":      with(video, func(i *mediainfo.Info) { i.Type = mediainfo.QuickTime }),
		"turned.mp4":     with(video, func(i *mediainfo.Info) { i.Width, i.Height = 90, 160 }),
		"hevc.mp4":       with(video, func(i *mediainfo.Info) { i.VideoCodec, i.AudioCodec = "hevc", "" }),
		"mp3.mp4":        with(video, func(i *mediainfo.Info) { i.AudioCodec = "mp3" }),
		"animated.gif":   with(still, func(i *mediainfo.Info) { i.Type, i.Animated, i.DecodeBytes = mediainfo.GIF, true, 6400 }),
		"animated.png":   with(still, func(i *mediainfo.Info) { i.Type, i.Animated, i.DecodeBytes = mediainfo.PNG, true, 12_800 }),
		"interlaced.png": with(still, func(i *mediainfo.Info) { i.Type, i.DecodeBytes = mediainfo.PNG, 25_600 }),
		"lossy.webp":     webp(false, macroblocks+834),
		"lossless.webp":  webp(false, 9*3200+16<<20),
		"alpha.webp":     webp(false, macroblocks+834+9*3200+16<<20),
		"animated.webp":  webp(true, macroblocks+832),
		"progressive.jpg": with(still, func(i *mediainfo.Info) {
			i.Type, i.Width, i.Height, i.Orientation = mediainfo.JPEG, 40, 80, 6
			i.DecodeBytes = 5 * 80 * 48 * 3 / 2
		}),
	} {
		got, err := read(load(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestGoImages(t *testing.T) {
	t.Parallel()
	gray := image.NewGray(image.Rect(0, 0, 33, 17))
	deep := image.NewNRGBA64(image.Rect(0, 0, 33, 17))
	for name, c := range map[string]struct {
		mime   string
		bytes  int64
		encode func(io.Writer) error
	}{
		"grey JPEG":    {mediainfo.JPEG, 40 * 24, func(w io.Writer) error { return jpeg.Encode(w, gray, nil) }},
		"JPEG":         {mediainfo.JPEG, 48 * 32 * 3 / 2, func(w io.Writer) error { return jpeg.Encode(w, deep, nil) }},
		"PNG":          {mediainfo.PNG, 33 * 17 * 4, func(w io.Writer) error { return png.Encode(w, gray) }},
		"PNG, 16 bits": {mediainfo.PNG, 33 * 17 * 8, func(w io.Writer) error { return png.Encode(w, deep) }},
		"GIF":          {mediainfo.GIF, 33 * 17 * 2, func(w io.Writer) error { return gif.Encode(w, gray, nil) }},
	} {
		var data bytes.Buffer
		if err := c.encode(&data); err != nil {
			t.Fatal(err)
		}
		want := mediainfo.Info{Type: c.mime, Kind: mediainfo.Image, Width: 33, Height: 17, Orientation: 1, DecodeBytes: c.bytes}
		got, err := read(data.Bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestUnsupportedTypes(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"nothing":          nil,
		"text":             []byte("once upon a time"),
		"PDF":              []byte("%PDF-1.7\n"),
		"M4A":              load(t, "sound.m4a"),
		"MP4 with a sound": load(t, "sound.mp4"),
		"HEIC":             newBox("ftyp", []byte("heic\x00\x00\x00\x00mif1heic")),
		"AVIF":             newBox("ftyp", []byte("avif\x00\x00\x00\x00mif1avif")),
	} {
		if _, err := read(data); !errors.Is(err, mediainfo.ErrType) {
			t.Errorf("%s: %v, want ErrType", name, err)
		}
	}
	if _, err := mediainfo.Read(bytes.NewReader(nil), -1); !errors.Is(err, mediainfo.ErrType) {
		t.Errorf("less than nothing: %v, want ErrType", err)
	}
}

// TestTruncatedFiles checks files without their second half.
func TestTruncatedFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"end.mp4", "front.mp4", "fragmented.mp4", "plain.mov", "lossy.webp", "lossless.webp", "alpha.webp", "animated.webp",
	} {
		data := load(t, name)
		if _, err := read(data[:len(data)/2]); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
	for name, at := range map[string]int{"animated.gif": 900, "animated.png": 40, "progressive.jpg": 100} {
		if _, err := read(load(t, name)[:at]); !errors.Is(err, mediainfo.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
}

// broken is a reader that fails after its first 4 KiB.
type broken struct {
	io.ReaderAt
	err error
}

func (b broken) ReadAt(p []byte, off int64) (int, error) {
	if off >= 4096 {
		return 0, b.err
	}
	return b.ReaderAt.ReadAt(p, off)
}

// TestStorage checks that read errors are not ErrDamaged.
func TestStorage(t *testing.T) {
	t.Parallel()
	data := load(t, "front.mp4")
	if _, err := mediainfo.Read(bytes.NewReader(data[:3000]), int64(len(data))); !errors.Is(err, io.EOF) ||
		errors.Is(err, mediainfo.ErrDamaged) {
		t.Errorf("file shorter than its stated size: %v, want io.EOF", err)
	}
	gone := errors.New("disk removed")
	data = slices.Concat(newBox("ftyp", u32(0, 0)), newBox("free", make([]byte, 8000)), newBox("mdat"))
	disk := broken{ReaderAt: bytes.NewReader(data), err: gone}
	if _, err := mediainfo.Read(disk, int64(len(data))); !errors.Is(err, gone) || errors.Is(err, mediainfo.ErrDamaged) {
		t.Errorf("a disk that fails: %v, want its error", err)
	}
}

func TestSecondPicture(t *testing.T) {
	t.Parallel()
	frame := image.NewPaletted(image.Rect(0, 0, 300, 300), color.Palette{color.Black, color.White})
	for frames, want := range []bool{1: false, 2: true, 3: true} {
		if frames == 0 {
			continue
		}
		var all gif.GIF
		for range frames {
			all.Image, all.Delay = append(all.Image, frame), append(all.Delay, 1)
		}
		var data bytes.Buffer
		if err := gif.EncodeAll(&data, &all); err != nil {
			t.Fatal(err)
		}
		if got, err := read(data.Bytes()); err != nil || got.Animated != want {
			t.Errorf("%d pictures: animated %t (%v), want %t", frames, got.Animated, err, want)
		}
	}
}
