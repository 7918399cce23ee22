package bridge

import (
	"bytes"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/sandbox/world"
)

// The clips were created with this command:
//
//	ffmpeg -f lavfi -i testsrc=size=SIZE:rate=15:duration=SECONDS -c:v libx264 -profile:v main -preset slow -crf 32 \
//	  -pix_fmt yuv420p -movflags +faststart -map_metadata -1 -fflags +bitexact -flags:v +bitexact NAME.mp4
//
//go:embed upright.mp4 wide.mp4
var clips embed.FS

var filePattern = regexp.MustCompile(`^([0-9]{19})\.(jpg|mp4)$`)

var errNoFile = errors.New("file not found")

// serveFile generates and serves the file of an item. The file depends only on its URL.
func serveFile(w http.ResponseWriter, r *http.Request) {
	match := filePattern.FindStringSubmatch(r.PathValue("file"))
	if match == nil {
		http.NotFound(w, r)
		return
	}
	content, err := fileContent(r.PathValue("size"), match[1], match[2])
	if errors.Is(err, errNoFile) {
		http.NotFound(w, r)
		return
	}
	if err != nil {
		slog.Error("sandbox: generating a file failed", "err", err)
		http.Error(w, "The file could not be generated.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", map[string]string{"jpg": "image/jpeg", "mp4": "video/mp4"}[match[2]])
	w.Header().Set("ETag", `"`+match[1]+`"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// fileContent returns the content of a file, or errNoFile if the size is not supported.
func fileContent(size, id, extension string) ([]byte, error) {
	if extension == "mp4" {
		return video(size, id)
	}
	for _, s := range append([]image.Point{world.AvatarSize}, world.PictureSizes...) {
		if size == fmt.Sprintf("%dx%d", s.X, s.Y) {
			return picture(s, world.NewRand("picture", id))
		}
	}
	return nil, errNoFile
}

// freeBox is the header of a 27-byte MP4 box that contains the 19 digits of an ID.
const freeBox = "\x00\x00\x00\x1bfree"

// video returns a clip that is followed by a box that players skip (ISO/IEC 14496-12, section 8.1.2). The box contains
// the ID, so that every item has a different file.
func video(size, id string) ([]byte, error) {
	for _, clip := range world.Clips {
		if size != fmt.Sprintf("%dx%d", clip.Width, clip.Height) {
			continue
		}
		content, err := clips.ReadFile(clip.File)
		if err != nil {
			return nil, fmt.Errorf("reading the clip: %w", err)
		}
		return slices.Concat(content, []byte(freeBox), []byte(id)), nil
	}
	return nil, errNoFile
}

// picture returns an encoded image of a gradient with some discs.
func picture(size image.Point, rng *rand.Rand) ([]byte, error) {
	picture := image.NewRGBA(image.Rectangle{Max: size})
	gradient(picture, randomColor(rng), randomColor(rng))
	for range 3 + rng.IntN(5) {
		center := image.Pt(rng.IntN(size.X), rng.IntN(size.Y))
		disc(picture, center, size.X/20+rng.IntN(size.X/5), randomColor(rng))
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: 80}); err != nil {
		return nil, fmt.Errorf("encoding the picture: %w", err)
	}
	return out.Bytes(), nil
}

func randomColor(rng *rand.Rand) color.RGBA {
	parts := binary.BigEndian.AppendUint32(nil, rng.Uint32())
	return color.RGBA{R: parts[0], G: parts[1], B: parts[2], A: 255}
}

func gradient(picture *image.RGBA, top, bottom color.RGBA) {
	size := picture.Bounds().Size()
	for y := range size.Y {
		mix := func(a, b uint8) uint8 {
			return uint8((int(a)*(size.Y-y) + int(b)*y) / size.Y) //nolint:gosec // between a and b
		}
		row := color.RGBA{mix(top.R, bottom.R), mix(top.G, bottom.G), mix(top.B, bottom.B), 255}
		for x := range size.X {
			picture.SetRGBA(x, y, row)
		}
	}
}

func disc(picture *image.RGBA, at image.Point, radius int, c color.RGBA) {
	box := image.Rect(at.X-radius, at.Y-radius, at.X+radius, at.Y+radius).Intersect(picture.Bounds())
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if dx, dy := x-at.X, y-at.Y; dx*dx+dy*dy < radius*radius {
				picture.SetRGBA(x, y, c)
			}
		}
	}
}
