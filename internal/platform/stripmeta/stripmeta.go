// Package stripmeta removes the metadata of images and videos without re-encoding: EXIF, XMP, IPTC, comments, text,
// embedded previews, location atoms, telemetry tracks, names, dates, and everything after the end of a file. It keeps
// the data needed for rendering: pixels, orientation, color profile, animation, sound.
//
// Each format has a list of the parts to keep, with their sizes. Everything else is removed. Color profiles keep only
// the tags for rendering. The media data of a video keeps only the samples of tracks that are shown or heard. Other
// media data becomes zeros, so that offsets remain valid. If the structure of a file cannot be parsed to its end, Scan
// returns an error, so a file is never partly cleaned.
//
// Coded data is not decoded. Metadata therefore remains inside coded video frames (such as SEI messages of H.264) and
// in the parameters of a codec. It also remains if it is appended to the compressed pixels of a JPEG or WebP.
package stripmeta

import (
	"fmt"
	"io"

	"pressroom.example/pressroom/internal/platform/mediainfo"
)

// Scan finds the metadata in the first size bytes of r, a file of the MIME type that mediainfo.Read reported. It reads
// the file at most about twice, decompresses at most 1 GiB of pixels and uses at most about 32 MiB of memory. The error
// matches mediainfo.ErrDamaged, is mediainfo.ErrType, or is an error of reading r.
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
