// Package mediainfo reads the properties of media files: type, dimensions, duration and the memory needed for decoding.
// It limits every value that a file declares. It reads at most 48 MiB of a file, 4 KiB at a time.
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

// The supported types.
const (
	JPEG      = "image/jpeg"
	PNG       = "image/png"
	WebP      = "image/webp"
	GIF       = "image/gif"
	MP4       = "video/mp4"
	QuickTime = "video/quicktime"
)

// Info describes a file.
type Info struct {
	Type          string        // MIME type, one of the constants above
	Kind          string        // Image or Video
	Width, Height int           // pixels as displayed, after rotation
	Orientation   int           // orientation of the stored pixels, 1 to 8 (EXIF 2.3); 1 for videos
	Animated      bool          // whether an image has several frames
	Duration      time.Duration // duration of a video
	VideoCodec    string        // h264, hevc, av1, vp9, prores and so on, or the four-character code of another codec
	AudioCodec    string        // aac, mp3, opus and so on; empty if there is no sound
	FrameRate     float64       // average frames per second; 0 if unknown
	DecodeBytes   int64         // maximum memory in bytes for decoding an image, or its first frame, in Go
}

// The limits of supported files.
const (
	MaxSide     = 16_384         // pixels
	MaxPixels   = 100_000_000    // maximum number of pixels of an image
	MaxDuration = 24 * time.Hour // maximum duration of a video
)

// ErrType means that a file has an unsupported type.
var ErrType = errors.New("not a JPEG, PNG, WebP, GIF, MP4 or MOV")

// ErrDamaged matches every *DamageError.
var ErrDamaged = errors.New("the file is damaged")

// DamageError means that a file of a supported type is damaged or exceeds a limit.
type DamageError struct {
	Reason string // for people, without a final period; does not contain text from the file
}

func (e *DamageError) Error() string { return e.Reason }

// Is reports whether the target is ErrDamaged.
func (*DamageError) Is(target error) bool { return target == ErrDamaged }

func newDamageError(reason string) error { return &DamageError{Reason: reason} }

// SniffBytes is the number of bytes that Sniff needs. Package mimetype reads the same number of bytes by default.
const SniffBytes = 3072

// Read returns the properties of the file in the first size bytes of r. The error is ErrType, matches ErrDamaged, or
// wraps an error from r.
func Read(r io.ReaderAt, size int64) (Info, error) {
	f := &file{r: r, size: max(size, 0)}
	head, err := f.peek(0, int(min(SniffBytes, f.size)))
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

// firstBoxes lists the possible first boxes of a video. Newer files begin with ftyp. QuickTime files can begin with any
// of these boxes.
var firstBoxes = []string{"ftyp", "moov", "mdat", "wide", "free", "skip"}

// Sniff returns the kind of a file, or ErrType. beginning contains the first SniffBytes bytes of the file. Read may
// still find that the file is damaged.
func Sniff(beginning []byte) (string, error) {
	switch detectType(beginning) {
	case MP4:
		return Video, nil
	case "":
		return "", ErrType
	}
	return Image, nil
}

// detectType returns the type of a file that begins with head. It returns MP4 for all videos, and an empty string for
// unsupported types.
func detectType(head []byte) string {
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

// reader returns the function that reads files of the type that head indicates.
func reader(head []byte) func(*file) (Info, error) {
	switch detectType(head) {
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

// imageInfo returns the Info of an image with the given stored width and height, or an error if the image exceeds a
// limit.
func imageInfo(mime string, width, height int64, orientation int) (Info, error) {
	switch {
	case width < 1 || height < 1:
		return Info{}, newDamageError("the image has no pixels")
	case width > MaxSide || height > MaxSide:
		return Info{}, newDamageError("the image is wider or higher than 16,384 pixels")
	case width*height > MaxPixels:
		return Info{}, newDamageError("the image is larger than 100 megapixels")
	}
	if orientation >= 5 {
		width, height = height, width
	}
	return Info{Type: mime, Kind: Image, Width: int(width), Height: int(height), Orientation: orientation}, nil
}
