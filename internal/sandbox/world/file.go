package world

import (
	"fmt"
	"image"
	"math/rand/v2"
)

// Clip is a video from which the files of posts are generated.
type Clip struct {
	File          string
	Width, Height int
	seconds       float64 // duration
}

// Clips are the clips in portrait and landscape orientation.
var Clips = []Clip{{"upright.mp4", 360, 640, 2}, {"wide.mp4", 640, 360, 1}}

// The sizes of pictures. The bridge rejects other sizes, so that a request cannot exhaust its memory.
var (
	AvatarSize   = image.Pt(320, 320)
	PictureSizes = []image.Point{{1080, 1350}, {1080, 1080}, {1080, 810}}
)

// File is a file of a post.
type File struct {
	ID            string
	IsVideo       bool
	Width, Height int
	Seconds       float64 // duration of a video
}

// Path returns the file's path below the bridge's /files/.
func (f File) Path() string {
	extension := "jpg"
	if f.IsVideo {
		extension = "mp4"
	}
	return fmt.Sprintf("%dx%d/%s.%s", f.Width, f.Height, f.ID, extension)
}

// NewFile returns a file for a post of the given format: a picture of a random size, or a clip.
func NewFile(rng *rand.Rand, id, format string) File {
	clip := Clips[1]
	switch format {
	case FormatImage, FormatCarousel:
		size := PictureSizes[rng.IntN(len(PictureSizes))]
		return File{ID: id, Width: size.X, Height: size.Y}
	case FormatReel:
		clip = Clips[0]
	}
	return File{ID: id, IsVideo: true, Width: clip.Width, Height: clip.Height, Seconds: clip.seconds}
}
