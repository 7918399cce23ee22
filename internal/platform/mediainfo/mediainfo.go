// Package mediainfo reads what a media file is from its bytes: its type, its size as shown, how long it lasts, and what
// decoding it would cost. It believes nothing that a file says of itself without a bound, and reads at most 48 MiB
// of it, 4 KiB at a time, wherever in the file that is.
package mediainfo

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/gabriel-vasile/mimetype"
)

// The kinds of media.
const (
	Image = "image"
	Video = "video"
)

// The types that are taken.
const (
	JPEG      = "image/jpeg"
	PNG       = "image/png"
	WebP      = "image/webp"
	GIF       = "image/gif"
	MP4       = "video/mp4"
	QuickTime = "video/quicktime"
)

// Info is what a file is.
type Info struct {
	Type          string        // MIME, one of the above
	Kind          string        // Image or Video
	Width, Height int           // pixels as shown: turned by the orientation, or by the matrix of the video's track
	Orientation   int           // 1 to 8 as in EXIF 2.3, how stored pixels are to be turned; 1 of a video
	Animated      bool          // an image of several frames
	Duration      time.Duration // of a video
	VideoCodec    string        // h264, hevc, av1, vp9, prores and such; the four-character code of a rarer one
	AudioCodec    string        // aac, mp3, opus and such; empty without sound
	FrameRate     float64       // frames a second on average; 0 where it cannot be told
	DecodeBytes   int64         // memory that Go's decoders take at most for the pixels of an image, of the first frame
}

// The bounds of what is taken.
const (
	MaxSide     = 16_384         // pixels
	MaxPixels   = 100_000_000    // of an image
	MaxDuration = 24 * time.Hour // of a video
)

// ErrType is the error about a file of a type that is not taken.
var ErrType = errors.New("not a JPEG, PNG, WebP, GIF, MP4 or MOV")

// ErrDamaged is what every *DamageError is.
var ErrDamaged = errors.New("the file is damaged")

// DamageError is the error about a file of a type that is taken, but broken or beyond the bounds.
type DamageError struct {
	Reason string // one clause for people, with nothing of the file in it
}

func (e *DamageError) Error() string { return e.Reason }

// Is makes every DamageError an ErrDamaged.
func (*DamageError) Is(target error) bool { return target == ErrDamaged }

func damaged(reason string) error { return &DamageError{Reason: reason} }

// Beginning is how much of a file tells its type, in bytes: as much as mimetype looks at by itself.
const Beginning = 3072

// Read tells what the first size bytes of r are. The error is ErrType, an ErrDamaged, or says what kept r from being
// read.
func Read(r io.ReaderAt, size int64) (Info, error) {
	f := &file{r: r, size: max(size, 0)}
	head, err := f.peek(0, int(min(Beginning, f.size)))
	if err != nil {
		return Info{}, err
	}
	info, err := reader(head)(f)
	if f.err != nil {
		return Info{}, fmt.Errorf("reading the file: %w", f.err)
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// firstBoxes are what files of boxes begin with: all newer ones with the first, QuickTime's with any.
var firstBoxes = []string{"ftyp", "moov", "mdat", "wide", "free", "skip"}

// Sniff tells the kind of a file by its beginning, of which Beginning bytes are enough. The error is ErrType if it is
// of no type that is taken. Read may still find that it is damaged.
func Sniff(beginning []byte) (string, error) {
	switch typeOf(beginning) {
	case MP4:
		return Video, nil
	case "":
		return "", ErrType
	}
	return Image, nil
}

// typeOf is the type of a file that begins so: MP4 of all files of boxes, whatever their brands mean to others; empty
// if it is none that is taken.
func typeOf(head []byte) string {
	if len(head) >= 8 && slices.Contains(firstBoxes, string(head[4:8])) {
		return MP4
	}
	for is := mimetype.Detect(head); is != nil; is = is.Parent() {
		if slices.Contains([]string{JPEG, PNG, WebP, GIF}, is.String()) {
			return is.String()
		}
	}
	return ""
}

// reader finds who reads a file that begins so.
func reader(head []byte) func(*file) (Info, error) {
	switch typeOf(head) {
	case MP4:
		return readVideo
	case JPEG:
		return readJPEG
	case PNG:
		return readPNG
	case WebP:
		return readWebP
	case GIF:
		return readGIF
	}
	return func(*file) (Info, error) { return Info{}, ErrType }
}

// still is what all images have in common; width and height are as stored.
func still(mime string, width, height int64, orientation int) (Info, error) {
	switch {
	case width < 1 || height < 1:
		return Info{}, damaged("the image says it has no pixels")
	case width > MaxSide || height > MaxSide:
		return Info{}, damaged("the image says it is wider or higher than 16,384 pixels")
	case width*height > MaxPixels:
		return Info{}, damaged("the image says it is larger than 100 megapixels")
	}
	if orientation >= 5 {
		width, height = height, width
	}
	return Info{Type: mime, Kind: Image, Width: int(width), Height: int(height), Orientation: orientation}, nil
}
