package network

import (
	"fmt"
	"time"
)

// Rules holds a network's limits on a post. Check applies them without sending a request. A limit of 0 means no limit,
// except for the number of images or videos.
type Rules struct {
	Title string `json:"title"` // the network's name for people
	Text  Text   `json:"text"`
	// PostTitle limits the title of a post. It is zero if the network has no titles.
	PostTitle Text        `json:"post_title"`
	Hashtags  Count       `json:"hashtags"`
	Mentions  Count       `json:"mentions"`
	Cashtags  Count       `json:"cashtags"` // such as $AAPL
	Links     Count       `json:"links"`    // distinct URLs with a scheme
	Media     MediaLimits `json:"media"`
	Thread    bool        `json:"thread"` // posts can be published as replies to each other
	// FirstComment limits the comment that an account adds to its own post. It is zero if the network does not support
	// such comments. It is also zero if Thread is true, because the comment is then a reply, to which the rules for posts
	// apply.
	FirstComment Text   `json:"first_comment"`
	Images       Images `json:"images"`
	Videos       Videos `json:"videos"`
	Stories      Videos `json:"stories"` // limits on a story's video; Max is 0 if the network has no stories
}

// Unit is a network's unit for counting text.
type Unit struct {
	Name  string           `json:"name"` // displayed after a number
	Count func(string) int `json:"-"`    // nil disables the check
}

// Text limits a post's text.
type Text struct {
	Unit       Unit `json:"unit"`
	MaxLength  int  `json:"longest"`     // in units
	WithImages int  `json:"with_images"` // in units; replaces MaxLength for posts with images, unless it is 0
	MaxBytes   int  `json:"max_bytes"`   // in UTF-8
	// Forbidden lists characters that the network rejects.
	Forbidden string `json:"forbidden"`
}

// Count limits the number of hashtags, mentions, cashtags or links.
type Count struct {
	Limit     int `json:"most"` // the network rejects a post that has more
	SoftLimit int `json:"warn"` // the network ignores items beyond this number
}

// MediaLimits limits a post's images and videos together.
type MediaLimits struct {
	Required   bool `json:"needed"` // the network rejects posts without media
	Max        int  `json:"most"`
	AllowMixed bool `json:"mixed"` // one post may have both images and videos
}

// Range is a minimum and a maximum.
type Range struct {
	Min int `json:"least"`
	Max int `json:"most"`
}

// Images limits a post's images. Images are converted and scaled down if necessary, but never cropped or enlarged.
type Images struct {
	Max          int         `json:"most"`
	Carousel     Range       `json:"carousel"`  // number of images in one post, for networks with a carousel format
	Types        []string    `json:"types"`     // MIME
	Converted    []string    `json:"converted"` // MIME types that are converted to one of Types
	MaxBytes     int64       `json:"max_bytes"` // larger images are resized
	MaxSide      int         `json:"max_side"`  // pixels of the longer side; larger images are resized
	AspectRatios AspectRange `json:"shapes"`
	Single       SingleImage `json:"alone"`
}

// SingleImage limits an image type, such as animated GIF. Such an image is sent unchanged and must be the post's only
// image.
type SingleImage struct {
	Type     string `json:"type"` // MIME; empty if there is no such type
	MaxBytes int64  `json:"max_bytes"`
	MaxSide  int    `json:"max_side"` // pixels of the longer side
}

// Videos limits a post's videos, which are never converted.
type Videos struct {
	Max          int         `json:"most"`
	Types        []string    `json:"types"` // MIME
	MinBytes     int64       `json:"min_bytes"`
	MaxBytes     int64       `json:"max_bytes"`
	MinDuration  Duration    `json:"shortest"`
	MaxDuration  Duration    `json:"longest"`
	MinSide      int         `json:"min_side"` // pixels of the shorter side
	MaxSide      int         `json:"max_side"` // pixels of the longer side
	AspectRatios AspectRange `json:"shapes"`
}

// Duration is a duration, encoded as text such as 1m30s.
type Duration time.Duration

// UnmarshalText parses a duration such as 1m30s.
func (s *Duration) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("parsing a duration: %w", err)
	}
	*s = Duration(d)
	return nil
}

// MarshalText returns the duration as text.
func (s Duration) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String returns the duration as text such as 1m30s.
func (s Duration) String() string { return time.Duration(s).String() }

// Seconds returns the duration in seconds.
func (s Duration) Seconds() float64 { return time.Duration(s).Seconds() }

// Aspect is an aspect ratio, width to height.
type Aspect struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// AspectRange limits aspect ratios. The zero value allows all aspect ratios.
type AspectRange struct {
	Tallest Aspect `json:"tallest"`
	Widest  Aspect `json:"widest"`
}

// HasFirstComment reports whether an account can add a comment to its own post.
func (r Rules) HasFirstComment() bool { return r.Thread || r.FirstComment.MaxLength > 0 }

// WithFirstComment returns rules that allow first comments of up to maxLength characters.
func (r Rules) WithFirstComment(maxLength int) *Rules {
	r.FirstComment = Text{Unit: codePoints, MaxLength: maxLength}
	return &r
}

// FileLimits returns the limits on one file of the given kind.
func (r Rules) FileLimits(kind string) FileLimits {
	if kind == Video {
		return FileLimits{Types: r.Videos.Types, MaxBytes: r.Videos.MaxBytes}
	}
	return FileLimits{Types: r.Images.Types, MaxBytes: r.Images.MaxBytes, MaxSide: r.Images.MaxSide}
}

func (a Aspect) ratio() float64 { return a.Width / a.Height }

// String returns the ratio as text such as 4:5.
func (a Aspect) String() string { return fmt.Sprintf("%g:%g", a.Width, a.Height) }
