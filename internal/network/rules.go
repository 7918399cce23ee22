package network

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Rules are what a network takes of a post, as plain data: drafts are checked by it without reaching the network, and
// it can be shown as a table. A bound of 0 is none, but for the numbers of images and videos.
type Rules struct {
	Title    string `json:"title"` // the network's name for people
	Text     Text   `json:"text"`
	Hashtags Count  `json:"hashtags"`
	Mentions Count  `json:"mentions"`
	Cashtags Count  `json:"cashtags"` // such as $AAPL
	Links    Count  `json:"links"`    // different ones, with a scheme
	Media    Amount `json:"media"`
	Images   Images `json:"images"`
	Videos   Videos `json:"videos"`
}

// Unit is what a text is measured in.
type Unit struct {
	Name  string           `json:"name"` // for people, after a number
	Count func(string) int `json:"-"`    // where nil, length is not checked
}

// Text bounds a post's text.
type Text struct {
	Unit       Unit `json:"unit"`
	Longest    int  `json:"longest"`     // in units
	WithImages int  `json:"with_images"` // in units, instead of Longest where images are posted; as Longest where 0
	MaxBytes   int  `json:"max_bytes"`   // of its UTF-8
	// Forbidden are characters that a text may not have.
	Forbidden string `json:"forbidden"`
}

// Count bounds how many of something a text has.
type Count struct {
	Most int `json:"most"` // more are refused
	Warn int `json:"warn"` // more are taken, with a loss
}

// Amount bounds a post's images and videos together.
type Amount struct {
	Needed bool `json:"needed"` // a text alone is refused; else a post needs either
	Most   int  `json:"most"`
	Mixed  bool `json:"mixed"` // images and videos in one post
}

// Range is how many of something there may be.
type Range struct {
	Least int `json:"least"`
	Most  int `json:"most"`
}

// Images bounds a post's images. They are converted and made smaller, never cut or made larger.
type Images struct {
	Most      int      `json:"most"`
	Carousel  Range    `json:"carousel"`  // of several in one post, where the network has a form of its own for them
	Types     []string `json:"types"`     // MIME
	Converted []string `json:"converted"` // MIME of what is made one of Types before it is sent
	MaxBytes  int64    `json:"max_bytes"` // larger ones are made smaller
	MaxSide   int      `json:"max_side"`  // pixels of the longer side; larger ones are made smaller
	Shapes    Shapes   `json:"shapes"`
	Alone     Alone    `json:"alone"`
}

// Alone is a type of image that stands by itself in a post and is sent as it is, such as a moving GIF.
type Alone struct {
	Type     string `json:"type"` // MIME; none where empty
	MaxBytes int64  `json:"max_bytes"`
	MaxSide  int    `json:"max_side"` // pixels of the longer side
}

// Videos bounds a post's videos, which are never converted.
type Videos struct {
	Most     int      `json:"most"`
	Types    []string `json:"types"` // MIME
	MinBytes int64    `json:"min_bytes"`
	MaxBytes int64    `json:"max_bytes"`
	Shortest Span     `json:"shortest"`
	Longest  Span     `json:"longest"`
	MinSide  int      `json:"min_side"` // pixels of the shorter side
	MaxSide  int      `json:"max_side"` // pixels of the longer side
	Shapes   Shapes   `json:"shapes"`
}

// Span is a time that a video takes, written such as 1m30s.
type Span time.Duration

// UnmarshalText reads it.
func (s *Span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("reading a time: %w", err)
	}
	*s = Span(d)
	return nil
}

// MarshalText writes it.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is such as 1m30s.
func (s Span) String() string { return time.Duration(s).String() }

// Seconds is the time in seconds.
func (s Span) Seconds() float64 { return time.Duration(s).Seconds() }

// Aspect is a shape: so wide to so high.
type Aspect struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Shapes bounds shapes; every shape where both are zero.
type Shapes struct {
	Tallest Aspect `json:"tallest"`
	Widest  Aspect `json:"widest"`
}

// Check finds what the network would not take, or would take with a loss. Images and videos are numbered by their
// place in the post. Sizes and times of 0 are not known and so not judged.
func (r Rules) Check(c Content) []Problem {
	return slices.Concat(r.checkText(c), r.checkCounts(c.Text), r.checkNumbers(c.Media), r.checkMedia(c.Media))
}

func (r Rules) checkText(c Content) []Problem {
	if !r.Media.Needed && len(c.Media) == 0 && blank(c.Text) {
		return []Problem{blocking("caption_missing", "A post on %s needs a text, an image or a video.", r.Title)}
	}
	if longest := r.longest(c); r.Text.Unit.Count != nil && longest > 0 {
		if have := r.Text.Unit.Count(c.Text); have > longest {
			return []Problem{r.tooLong(have, longest, r.Text.Unit.Name)}
		}
	}
	if at := strings.IndexAny(c.Text, r.Text.Forbidden); at >= 0 {
		return []Problem{
			blocking("caption_characters", "The text has the character %s; %s takes none.", named(c.Text[at:]),
				r.Title),
		}
	}
	if r.Text.MaxBytes > 0 && len(c.Text) > r.Text.MaxBytes {
		return []Problem{r.tooLong(len(c.Text), r.Text.MaxBytes, "bytes")}
	}
	return nil
}

// Fit is what the library is asked for of a kind of medium.
func (r Rules) Fit(kind string) Fit {
	if kind == Video {
		return Fit{Types: r.Videos.Types, MaxBytes: r.Videos.MaxBytes}
	}
	return Fit{Types: r.Images.Types, MaxBytes: r.Images.MaxBytes, MaxSide: r.Images.MaxSide}
}

// named is the first character of a text, or its number where it is not to be seen.
func named(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
		return "“" + string(r) + "”"
	}
	return fmt.Sprintf("U+%04X", r)
}

// blank also holds for a text of invisible characters alone, such as zero-width spaces.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) == ""
}

func (r Rules) tooLong(have, most int, unit string) Problem {
	return blocking("caption_too_long", "The text has %d %s; %s takes at most %d.", have, unit, r.Title, most)
}

func (r Rules) checkCounts(text string) []Problem {
	links := Links(text)
	slices.Sort(links)
	return slices.Concat(
		r.checkCount("hashtags_too_many", "hashtags", r.Hashtags, len(Hashtags(text))),
		r.checkCount("mentions_too_many", "mentions", r.Mentions, len(Mentions(text))),
		r.checkCount("cashtags_too_many", "cashtags", r.Cashtags, len(Cashtags(text))),
		r.checkCount("links_too_many", "different links", r.Links, len(slices.Compact(links))))
}

func (r Rules) checkCount(code, what string, c Count, have int) []Problem {
	switch {
	case c.Most > 0 && have > c.Most:
		return []Problem{blocking(code, "The text has %d %s; %s takes at most %d.", have, what, r.Title, c.Most)}
	case c.Warn > 0 && have > c.Warn:
		return []Problem{
			loss(code, "The text has %d %s; %s may make nothing of more than %d.", have, what, r.Title, c.Warn),
		}
	}
	return nil
}

// checkNumbers finds media that are missing, too many, or not taken together.
func (r Rules) checkNumbers(media []Media) []Problem {
	if len(media) == 0 && r.Media.Needed {
		return []Problem{blocking("media_missing", "A post on %s needs %s.", r.Title, r.needed())}
	}
	images := 0
	for _, m := range media {
		if isImage(m) {
			images++
		}
	}
	videos := len(media) - images
	var found []Problem
	if images > 0 && videos > 0 && r.Images.Most > 0 && r.Videos.Most > 0 && !r.Media.Mixed {
		found = append(found, blocking("media_mix", "A post on %s takes images or a video, not both.", r.Title))
	}
	found = append(found, r.checkNumber(images, r.Images.Most, "image", r.Images.amount())...)
	found = append(found, r.checkNumber(videos, r.Videos.Most, "video", number(r.Videos.Most, "video"))...)
	if len(found) == 0 {
		found = r.checkNumber(len(media), r.Media.Most, "item", number(r.Media.Most, "item"))
	}
	return found
}

// checkNumber finds too many of what is taken at all.
func (r Rules) checkNumber(have, most int, what, takes string) []Problem {
	if most == 0 || have <= most {
		return nil
	}
	return []Problem{
		blocking("media_too_many", "A post on %s takes %s; this one has %s.", r.Title, takes, number(have, what)),
	}
}

// needed names the media that a post can have.
func (r Rules) needed() string {
	if r.Images.Most == 0 {
		return "a video"
	}
	return "an image or a video"
}

func (i Images) amount() string {
	if i.Carousel == (Range{}) {
		return number(i.Most, "image")
	}
	return fmt.Sprintf("one image or %d to %d", i.Carousel.Least, i.Carousel.Most)
}

func number(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func isImage(m Media) bool { return m.Kind != Video }

// checkMedia finds what is wrong with each of the media.
func (r Rules) checkMedia(media []Media) []Problem {
	var found []Problem
	for i, m := range media {
		o := one{m, r.Title, called(m, i+1)}
		switch {
		case !isImage(m):
			found = append(found, o.video(r.Videos)...)
		case r.Images.Alone.Type != "" && m.Type == r.Images.Alone.Type:
			found = append(found, o.alone(r.Images.Alone, len(media))...)
		default:
			found = append(found, o.image(r.Images)...)
		}
	}
	return found
}

func called(m Media, place int) string {
	if isImage(m) {
		return fmt.Sprintf("Image %d", place)
	}
	return fmt.Sprintf("Video %d", place)
}

// one is an image or a video with how it and its network are called in a sentence.
type one struct {
	Media

	network, name string
}

func (o one) image(rules Images) []Problem {
	if rules.Most == 0 {
		return []Problem{blocking("media_type", "%s is an image; %s takes none.", o.name, o.network)}
	}
	converted := slices.Contains(rules.Converted, o.Type)
	if !converted && !slices.Contains(rules.Types, o.Type) {
		return []Problem{o.wrongType(append(slices.Clone(rules.Types), rules.Converted...))}
	}
	var found []Problem
	if converted {
		found = append(found, loss("media_type", "%s is a %s; %s takes %s, so it is converted before it is sent%s.",
			o.name, typeNames[o.Type], o.network, list(rules.Types), stillness(o.Type)))
	}
	if rules.MaxBytes > 0 && o.Size > rules.MaxBytes {
		found = append(found,
			loss("media_too_large", "%s has %d bytes; %s takes at most %d, so it is made smaller before it is sent.",
				o.name, o.Size, o.network, rules.MaxBytes))
	}
	if side := max(o.Width, o.Height); rules.MaxSide > 0 && side > rules.MaxSide {
		found = append(found,
			loss("media_too_large",
				"%s is %d pixels on its longer side; %s takes at most %d, so it is made smaller before it is sent.",
				o.name, side, o.network, rules.MaxSide))
	}
	return append(found, o.shape(rules.Shapes)...)
}

// stillness says what is lost of a GIF, which may move.
func stillness(mimeType string) string {
	if mimeType == gifType {
		return ", and only its first frame is shown"
	}
	return ""
}

func (o one) alone(rules Alone, all int) []Problem {
	var found []Problem
	if all > 1 {
		found = append(found,
			blocking("media_mix", "%s is a %s; %s takes one only by itself.", o.name, typeNames[o.Type], o.network))
	}
	return append(found, o.tooLarge(rules.MaxBytes, rules.MaxSide)...)
}

func (o one) video(rules Videos) []Problem {
	if rules.Most == 0 {
		return []Problem{blocking("media_type", "%s is a video; %s takes none.", o.name, o.network)}
	}
	var found []Problem
	if !slices.Contains(rules.Types, o.Type) {
		found = append(found, o.wrongType(rules.Types))
	}
	found = append(found, o.tooLarge(rules.MaxBytes, rules.MaxSide)...)
	if o.Size > 0 && o.Size < rules.MinBytes {
		found = append(found,
			blocking("media_too_small", "%s has %d bytes; %s takes at least %d.", o.name, o.Size, o.network,
				rules.MinBytes))
	}
	if rules.Longest > 0 && o.Duration > time.Duration(rules.Longest) {
		found = append(found, blocking("media_too_long", "%s lasts %.0f seconds; %s takes at most %.0f.",
			o.name, math.Ceil(o.Duration.Seconds()), o.network, rules.Longest.Seconds()))
	}
	if o.Duration > 0 && o.Duration < time.Duration(rules.Shortest) {
		found = append(found, blocking("media_too_short", "%s lasts %.1f seconds; %s takes at least %g.",
			o.name, math.Floor(o.Duration.Seconds()*10)/10, o.network, rules.Shortest.Seconds()))
	}
	if side := min(o.Width, o.Height); side > 0 && side < rules.MinSide {
		found = append(found, blocking("media_aspect", "%s is %d pixels on its shorter side; %s takes at least %d.",
			o.name, side, o.network, rules.MinSide))
	}
	return append(found, o.shape(rules.Shapes)...)
}

func (o one) wrongType(taken []string) Problem {
	return blocking("media_type", "%s is of a type that %s does not take; it takes %s.", o.name, o.network, list(taken))
}

// tooLarge is for what is not made smaller.
func (o one) tooLarge(maxBytes int64, maxSide int) []Problem {
	var found []Problem
	if maxBytes > 0 && o.Size > maxBytes {
		found = append(found,
			blocking("media_too_large", "%s has %d bytes; %s takes at most %d.", o.name, o.Size, o.network, maxBytes))
	}
	if side := max(o.Width, o.Height); maxSide > 0 && side > maxSide {
		found = append(found,
			blocking("media_too_large", "%s is %d pixels on its longer side; %s takes at most %d.", o.name, side,
				o.network, maxSide))
	}
	return found
}

// aspectSlack is how much a shape may be outside its bounds: pixels are whole, and networks write 1.91 for 1200 by 628.
const aspectSlack = 0.003

func (o one) shape(s Shapes) []Problem {
	if s == (Shapes{}) || o.Width <= 0 || o.Height <= 0 {
		return nil
	}
	shape := float64(o.Width) / float64(o.Height)
	if shape >= s.Tallest.ratio()*(1-aspectSlack) && shape <= s.Widest.ratio()*(1+aspectSlack) {
		return nil
	}
	return []Problem{blocking("media_aspect", "%s is %d pixels wide and %d high; %s takes shapes from %s to %s.",
		o.name, o.Width, o.Height, o.network, s.Tallest, s.Widest)}
}

func (a Aspect) ratio() float64 { return a.Width / a.Height }

// String is how people write it, such as 4:5.
func (a Aspect) String() string { return fmt.Sprintf("%g:%g", a.Width, a.Height) }

var typeNames = map[string]string{
	jpegType: "JPEG", pngType: "PNG", webpType: "WebP", gifType: "GIF", mp4Type: "MP4", quickTimeType: "MOV",
	webmType: "WebM",
}

// list names types for people: "JPEG, PNG and WebP".
func list(types []string) string {
	names := make([]string, len(types))
	for i, mimeType := range types {
		names[i] = typeNames[mimeType]
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func blocking(code, format string, args ...any) Problem {
	return Problem{Code: code, Blocking: true, Message: fmt.Sprintf(format, args...)}
}

// loss is a problem that the network would not refuse the post for.
func loss(code, format string, args ...any) Problem {
	return Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}

var address = regexp.MustCompile(`(?i:https?)://[^\s<>"「」『』（）、。，]+`)

// Links finds addresses with http:// or https://, without the punctuation of the sentence behind them. Bare domains are
// not found, as no two networks agree about these.
func Links(text string) []string {
	found := address.FindAllString(text, -1)
	for i := range found {
		found[i] = strings.TrimRight(found[i], ".,;:!?'…’)]}")
	}
	return found
}

// Hashtags finds words behind a # or its full-width form, without the sign: letters, digits and underscores, not
// digits alone, in no word and no address.
func Hashtags(text string) []string {
	return slices.DeleteFunc(signed(text, "#＃"), func(word string) bool {
		return !strings.ContainsFunc(word, unicode.IsLetter)
	})
}

var cashtag = regexp.MustCompile(`(?:^|[^\pL\pN_$])\$([A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)\b`)

// Cashtags finds the signs of shares behind a $, without it.
func Cashtags(text string) []string {
	var found []string
	for _, match := range cashtag.FindAllStringSubmatch(address.ReplaceAllLiteralString(text, " "), -1) {
		found = append(found, match[1])
	}
	return found
}

// Mentions finds words behind an @ or its full-width form, without the sign, as Hashtags. Of a name with dots it is
// the first part.
func Mentions(text string) []string { return signed(text, "@＠") }

// signed finds words behind one of these signs.
func signed(text, signs string) []string {
	var found []string
	text = address.ReplaceAllLiteralString(text, " ")
	before := ' '
	for i, r := range text {
		if strings.ContainsRune(signs, r) && !inWord(before) {
			if word := leadingWord(text[i+len(string(r)):]); word != "" {
				found = append(found, word)
			}
		}
		before = r
	}
	return found
}

func leadingWord(text string) string {
	if end := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) }); end >= 0 {
		return text[:end]
	}
	return text
}

// inWord tells letters, digits and underscores, and the marks that many scripts write words with.
func inWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.In(r, unicode.Mn,
		unicode.Mc) && !unicode.Is(unicode.Variation_Selector, r)
}
