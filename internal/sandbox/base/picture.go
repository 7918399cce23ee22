package base

import (
	"bytes"
	"hash/fnv"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"net/url"
	"time"
)

// PictureURL returns the URL of the profile picture for a name. Accounts with the same name have the same picture.
func (s *Server) PictureURL(r *http.Request, name string) string {
	return s.BaseURL(r) + "/pictures/" + url.PathEscape(name)
}

// pictureSide is the width and height of profile pictures, in pixels.
const pictureSide = 200

// palettes lists the color palettes of profile pictures. Each contains the colors of the sky, the sun and the waves.
var palettes = [][3]color.RGBA{
	{{0x17, 0x3b, 0x4f, 0xff}, {0xe8, 0x9b, 0x4b, 0xff}, {0xf3, 0xee, 0xe4, 0xff}},
	{{0xf1, 0xe4, 0xd0, 0xff}, {0xd9, 0x6b, 0x3a, 0xff}, {0x1d, 0x4b, 0x5e, 0xff}},
	{{0x2d, 0x4a, 0x37, 0xff}, {0xf0, 0xc3, 0x5b, 0xff}, {0xe6, 0xef, 0xe2, 0xff}},
	{{0x4b, 0x2f, 0x4f, 0xff}, {0xf2, 0x8a, 0x7c, 0xff}, {0xf5, 0xe6, 0xee, 0xff}},
}

// Picture serves the profile picture for the path value "name". The picture shows the sun over three waves.
func Picture(w http.ResponseWriter, r *http.Request) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(r.PathValue("name")))         // never fails
	colors := palettes[sum.Sum32()%uint32(len(palettes))] //nolint:gosec // a small length
	phase := float64(sum.Sum32()%100) / 10
	picture := image.NewRGBA(image.Rect(0, 0, pictureSide, pictureSide))
	for y := range pictureSide {
		for x := range pictureSide {
			picture.SetRGBA(x, y, colors[pictureLayer(float64(x)/pictureSide, float64(y)/pictureSide, phase)])
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		http.Error(w, "The picture could not be drawn.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(out.Bytes()))
}

// pictureLayer returns the layer at a position in a picture: 0 for the sky, 1 for the sun, or 2 for a wave.
func pictureLayer(x, y, phase float64) int {
	for i := range 3 {
		height := 0.52 + 0.15*float64(i) + 0.035*math.Sin(14*x+phase+2*float64(i))
		if y > height && y < height+0.06 {
			return 2
		}
	}
	if math.Hypot(x-0.66, y-0.3) < 0.12 {
		return 1
	}
	return 0
}
