package bluesky

import (
	"fmt"
	"math"

	"pressroom/internal/network"
)

const (
	jpegType = "image/jpeg"
	pngType  = "image/png"
	webpType = "image/webp"
	gifType  = "image/gif"
	mp4Type  = "video/mp4"

	maxSide = 2000 // pixels; the network's own client sends no more
)

// checkMedia finds media that the network does not take together, and what is wrong with each.
func (n *Network) checkMedia(media []network.Media) []network.Problem {
	var found []network.Problem
	videos := 0
	for i, m := range media {
		if m.Kind == network.Video {
			videos++
			found = append(found, n.checkVideo(m)...)
			continue
		}
		found = append(found, n.checkImage(i+1, m)...)
	}
	images := len(media) - videos
	switch {
	case videos > 0 && images > 0:
		found = append(found, blocking("media_mix", "A Bluesky post takes images or a video, not both."))
	case videos > 1:
		found = append(found, blocking("media_too_many", "A Bluesky post takes one video; this one has %d.", videos))
	case images > n.limits.Images:
		found = append(found, blocking("media_too_many", "A Bluesky post takes %d images; this one has %d.", n.limits.Images, images))
	}
	return found
}

func (n *Network) checkImage(number int, m network.Media) []network.Problem {
	var found []network.Problem
	switch m.Type {
	case jpegType, pngType, webpType:
	case gifType:
		found = append(found, loss("media_type", "Image %d is a GIF: Bluesky gets its first frame as a JPEG.", number))
	default:
		return []network.Problem{blocking("media_type", "Image %d is of a type that Bluesky does not take; it takes JPEG, PNG and WebP.", number)}
	}
	if m.Size > n.limits.ImageBytes {
		found = append(found, loss("media_too_large", "Image %d has %d bytes; Bluesky takes at most %d, so it is made smaller before it is sent.",
			number, m.Size, n.limits.ImageBytes))
	}
	return found
}

func (n *Network) checkVideo(m network.Media) []network.Problem {
	var found []network.Problem
	if m.Type != mp4Type {
		found = append(found, blocking("media_type", "Bluesky takes videos as MP4 alone."))
	}
	if m.Size > n.limits.VideoBytes {
		found = append(found, blocking("media_too_large", "The video has %d bytes; Bluesky takes at most %d.", m.Size, n.limits.VideoBytes))
	}
	if m.Duration > n.limits.VideoTime {
		found = append(found, blocking("media_too_long", "The video lasts %.0f seconds; Bluesky takes at most %.0f.",
			math.Ceil(m.Duration.Seconds()), n.limits.VideoTime.Seconds()))
	}
	return found
}

func blocking(code, format string, args ...any) network.Problem {
	return network.Problem{Code: code, Blocking: true, Message: fmt.Sprintf(format, args...)}
}

// loss is a problem that the network would not notice, as the image is changed before it gets it.
func loss(code, format string, args ...any) network.Problem {
	return network.Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

// fit is what the library is asked for. Images stay a little below the limit, as the network's own client has it.
func (n *Network) fit(kind string) network.Fit {
	if kind == network.Video {
		return network.Fit{Types: []string{mp4Type}, MaxBytes: n.limits.VideoBytes}
	}
	return network.Fit{Types: []string{jpegType, pngType, webpType}, MaxBytes: n.limits.ImageBytes * 976 / 1000, MaxSide: maxSide}
}
