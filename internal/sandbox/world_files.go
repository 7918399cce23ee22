package sandbox

import (
	"fmt"
	"image"
	"math/rand/v2"
)

type vendorClip struct {
	file          string
	width, height int
	seconds       float64
}

var vendorClips = []vendorClip{{"bridge/upright.mp4", 360, 640, 2}, {"bridge/wide.mp4", 640, 360, 1}}

// Sizes of pictures. No others are drawn, so that no request can fill the memory.
var (
	avatarSize  = image.Pt(320, 320)
	vendorSizes = []image.Point{{1080, 1350}, {1080, 1080}, {1080, 810}}
)

// worldFile is a file of a post.
type worldFile struct {
	id            string
	video         bool
	width, height int
	seconds       float64 // length of a video
}

// path returns the file's path below the bridge's files.
func (f worldFile) path() string {
	kind := "jpg"
	if f.video {
		kind = "mp4"
	}
	return fmt.Sprintf("%dx%d/%s.%s", f.width, f.height, f.id, kind)
}

// newFile returns a picture of a random size, or a clip.
func newFile(rng *rand.Rand, id, format string) worldFile {
	clip := vendorClips[1]
	switch format {
	case worldImage, worldCarousel:
		size := vendorSizes[rng.IntN(len(vendorSizes))]
		return worldFile{id: id, width: size.X, height: size.Y}
	case worldReel:
		clip = vendorClips[0]
	}
	return worldFile{id: id, video: true, width: clip.width, height: clip.height, seconds: clip.seconds}
}
