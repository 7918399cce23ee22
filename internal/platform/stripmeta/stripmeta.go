// Package stripmeta removes the metadata of images and videos without re-encoding: EXIF, XMP, IPTC, comments, text,
// embedded previews, location atoms, telemetry tracks, names, dates, and everything after the end of the image or
// video. It keeps the data that is needed for rendering: pixels, orientation, color profile, animation and sound.
//
// For each format, the package lists the parts to keep and their sizes. It removes everything else. In color profiles,
// it keeps only the tags that are needed for rendering. In the media data of a video, it keeps only the samples of
// tracks that are shown or heard, and replaces other data with zeros, so that offsets remain valid. If a file cannot be
// parsed to its end, Scan returns an error, so a file is never partly cleaned.
//
// The package does not decode coded data. Metadata therefore remains inside coded video frames, such as SEI messages in
// H.264, and in the parameters of a codec. It also remains if it is appended to the compressed pixels of a JPEG or
// WebP.
package stripmeta

import (
	"fmt"
	"io"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// Scan finds the metadata in a file, which consists of the first size bytes of r. mime is the type that mediainfo.Read
// reported. Scan reads the file about twice at most, decompresses at most 1 GiB of pixels and uses at most about 32 MiB
// of memory. The error is mediainfo.ErrType, matches mediainfo.ErrDamaged, or wraps an error from r.
func Scan(r io.ReaderAt, size int64, mime string) (Edits, error) {
	scan := map[string]func(*source, *Edits) error{
		mediainfo.JPEG: scanJPEG, mediainfo.PNG: scanPNG, mediainfo.WebP: scanWebP, mediainfo.GIF: scanGIF,
		mediainfo.MP4: scanVideo, mediainfo.QuickTime: scanVideo,
	}[mime]
	if scan == nil {
		return Edits{}, mediainfo.ErrType
	}
	s := &source{r: r, size: size}
	e := Edits{inputSize: size}
	err := scan(s, &e)
	if s.err != nil { // a read error is the cause of later errors
		return Edits{}, fmt.Errorf("reading the file: %w", s.err)
	}
	if err == nil {
		err = e.finish()
	}
	if err != nil {
		return Edits{}, err
	}
	return e, nil
}

func newDamageError(reason string) error { return &mediainfo.DamageError{Reason: reason} }

var (
	errTruncated       = newDamageError("the file ends too early")
	errBrokenStructure = newDamageError("the file's structure is broken")
	errTooManyParts    = newDamageError("the file is in too many parts")
)
