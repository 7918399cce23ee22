package threads

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"pressroom/internal/network"
)

const (
	jpegType = "image/jpeg"
	pngType  = "image/png"
	mp4Type  = "video/mp4"
	movType  = "video/quicktime"
)

var (
	imageTypes = []string{jpegType, pngType}
	videoTypes = []string{mp4Type, movType}
)

// Limits is what the network takes of a post.
type Limits struct {
	Characters int           // of the text; an emoji counts as many as it has bytes
	Links      int           // different ones in the text
	Media      int           // of one post
	ImageBytes int64         // of one image; a larger one is made smaller
	ImageSide  int           // pixels; a larger image is made smaller
	Aspect     int           // longest side of an image by its shortest
	VideoBytes int64         // of one video
	VideoTime  time.Duration // of one video
}

// TodaysLimits are those of the network's documentation.
var TodaysLimits = Limits{
	Characters: 500, Links: 5, Media: 20,
	ImageBytes: 8_000_000, ImageSide: 1440, Aspect: 10,
	VideoBytes: 1_000_000_000, VideoTime: 5 * time.Minute,
}

// Check finds a text that is missing, too long or too full of links, and media that the network does not take, or not
// as they are. Media need no text beside them.
func (n *Network) Check(c network.Content) []network.Problem {
	found := n.checkText(c)
	if have := len(c.Media); have > n.opts.Limits.Media {
		found = append(found, blocking("media_too_many", "A Threads post takes %d images and videos; this one has %d.", n.opts.Limits.Media, have))
	}
	for i, m := range c.Media {
		if m.Kind == network.Video {
			found = append(found, n.checkVideo(i+1, m)...)
			continue
		}
		found = append(found, n.checkImage(i+1, m)...)
	}
	return found
}

var (
	link    = regexp.MustCompile(`(?i)https?://[^\s<>"]+`)
	hashtag = regexp.MustCompile(`(?:^|\s)#[\pL\pN_]+`)
)

func (n *Network) checkText(c network.Content) []network.Problem {
	if blank(c.Text) && len(c.Media) == 0 {
		return []network.Problem{blocking("caption_missing", "A Threads post needs a text, an image or a video.")}
	}
	var found []network.Problem
	if have := length(c.Text); have > n.opts.Limits.Characters {
		found = append(found, blocking("caption_too_long", "The text has %d characters, emoji counted by their bytes; Threads takes at most %d.", have, n.opts.Limits.Characters))
	}
	links := link.FindAllString(c.Text, -1)
	slices.Sort(links)
	if have := len(slices.Compact(links)); have > n.opts.Limits.Links {
		found = append(found, blocking("links_too_many", "The text has %d different links; Threads takes at most %d.", have, n.opts.Limits.Links))
	}
	if have := len(hashtag.FindAllString(c.Text, 2)); have > 1 {
		found = append(found, loss("hashtags_too_many", "Threads makes a topic of one hashtag alone; the others are shown as text."))
	}
	return found
}

// blank also holds for a text of invisible characters alone, such as zero-width spaces.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) == ""
}

// length counts a text as the network does: characters, but of an emoji the bytes of all that it is put together from.
func length(text string) int {
	count := 0
	for rest, state := text, -1; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if strings.ContainsFunc(cluster, emoji) {
			count += len(cluster)
			continue
		}
		count += len([]rune(cluster))
	}
	return count
}

// emoji tells what is drawn as a picture: what was made for it, and anything that a selector turns into one.
func emoji(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r == 0xFE0F
}

func (n *Network) checkImage(number int, m network.Media) []network.Problem {
	limits := n.opts.Limits
	var found []network.Problem
	if !strings.HasPrefix(m.Type, "image/") {
		return []network.Problem{blocking("media_type", "Medium %d is of a type that Threads does not take.", number)}
	}
	if !slices.Contains(imageTypes, m.Type) {
		found = append(found, loss("media_type", "Image %d is sent as a JPEG, as Threads takes JPEG and PNG alone.", number))
	}
	if m.Size > limits.ImageBytes || max(m.Width, m.Height) > limits.ImageSide {
		found = append(found, loss("media_too_large", "Image %d is made smaller before it is sent: Threads takes %d bytes and a width of %d pixels.", number, limits.ImageBytes, limits.ImageSide))
	}
	if short := min(m.Width, m.Height); short > 0 && max(m.Width, m.Height) > limits.Aspect*short {
		found = append(found, blocking("media_aspect", "Image %d is more than %d times as long as it is wide, or as wide as it is long.", number, limits.Aspect))
	}
	return found
}

func (n *Network) checkVideo(number int, m network.Media) []network.Problem {
	limits := n.opts.Limits
	var found []network.Problem
	if !slices.Contains(videoTypes, m.Type) {
		found = append(found, blocking("media_type", "Video %d is neither MP4 nor MOV, which Threads takes alone.", number))
	}
	if m.Size > limits.VideoBytes {
		found = append(found, blocking("media_too_large", "Video %d has %d bytes; Threads takes at most %d.", number, m.Size, limits.VideoBytes))
	}
	if m.Duration > limits.VideoTime {
		found = append(found, blocking("media_too_long", "Video %d is longer than %v, the most that Threads takes.", number, limits.VideoTime))
	}
	return found
}

// fit is what the library is asked for.
func (n *Network) fit(kind string) network.Fit {
	if kind == network.Video {
		return network.Fit{Types: videoTypes, MaxBytes: n.opts.Limits.VideoBytes}
	}
	return network.Fit{Types: imageTypes, MaxBytes: n.opts.Limits.ImageBytes, MaxSide: n.opts.Limits.ImageSide}
}

func blocking(code, format string, args ...any) network.Problem {
	return network.Problem{Code: code, Blocking: true, Message: fmt.Sprintf(format, args...)}
}

// loss is a problem that the network would not notice, as the image is changed before it gets it.
func loss(code, format string, args ...any) network.Problem {
	return network.Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}
