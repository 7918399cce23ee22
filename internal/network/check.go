package network

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Check returns what the network would reject, or accept only with changes. It numbers images and videos by their
// position in the post. Sizes and durations of 0 are unknown and not checked.
func (r Rules) Check(c Content) []Problem {
	return slices.Concat(r.checkText(c), r.checkTextCounts(c.Text), r.checkMediaCounts(c.Media), r.checkMedia(c.Media))
}

func (r Rules) checkText(c Content) []Problem {
	if !r.Media.Required && len(c.Media) == 0 && isBlank(c.Text) {
		return []Problem{blockingProblem("caption_missing", "A post on %s needs text, an image or a video. Add one.", r.Title)}
	}
	if limit := r.maxLength(c); r.Text.Unit.Count != nil && limit > 0 {
		if count := r.Text.Unit.Count(c.Text); count > limit {
			return []Problem{r.tooLongProblem(count, limit, r.Text.Unit.Name)}
		}
	}
	if at := strings.IndexAny(c.Text, r.Text.Forbidden); at >= 0 {
		return []Problem{
			blockingProblem("caption_characters", "%s does not allow the character %s. Remove it.", r.Title,
				characterName(c.Text[at:])),
		}
	}
	if r.Text.MaxBytes > 0 && len(c.Text) > r.Text.MaxBytes {
		return []Problem{r.tooLongProblem(len(c.Text), r.Text.MaxBytes, "bytes")}
	}
	return nil
}

// CheckFirstComment returns the reasons why the network would reject a text as the first comment of a post.
func (r Rules) CheckFirstComment(text string) []Problem {
	limit := r.FirstComment
	if isBlank(text) {
		return []Problem{blockingProblem("caption_missing", "The first comment has no visible text. Write one, or clear it.")}
	}
	if count := limit.Unit.Count(text); count > limit.MaxLength {
		return []Problem{r.tooLongProblem(count, limit.MaxLength, limit.Unit.Name)}
	}
	return nil
}

// characterName returns the first character of a text, or its code point if it is invisible.
func characterName(text string) string {
	r, _ := utf8.DecodeRuneInString(text)
	if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
		return "“" + string(r) + "”"
	}
	return fmt.Sprintf("U+%04X", r)
}

// isBlank reports whether a text has only white space and invisible characters, such as zero-width spaces.
func isBlank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) == ""
}

func (r Rules) tooLongProblem(count, limit int, unit string) Problem {
	return blockingProblem("caption_too_long", "Too long for %s: %d/%d %s. Shorten the text.", r.Title, count, limit, unit)
}

func (r Rules) checkTextCounts(text string) []Problem {
	links := Links(text)
	slices.Sort(links)
	return slices.Concat(
		r.checkTextCount("hashtags_too_many", "hashtags", r.Hashtags, len(Hashtags(text))),
		r.checkTextCount("mentions_too_many", "mentions", r.Mentions, len(Mentions(text))),
		r.checkTextCount("cashtags_too_many", "cashtags", r.Cashtags, len(Cashtags(text))),
		r.checkTextCount("links_too_many", "distinct links", r.Links, len(slices.Compact(links))))
}

func (r Rules) checkTextCount(code, noun string, c Count, count int) []Problem {
	switch {
	case c.Limit > 0 && count > c.Limit:
		return []Problem{
			blockingProblem(code, "Too many %s for %s: %d/%d. Remove %d.", noun, r.Title, count, c.Limit, count-c.Limit),
		}
	case c.SoftLimit > 0 && count > c.SoftLimit:
		return []Problem{
			warningProblem(code, "The text has %d %s; %s may ignore more than %d.", count, noun, r.Title, c.SoftLimit),
		}
	}
	return nil
}

// checkMediaCounts returns problems with the number of media items: no media, too many items, or images mixed with
// videos.
func (r Rules) checkMediaCounts(media []Media) []Problem {
	if len(media) == 0 && r.Media.Required {
		return []Problem{blockingProblem("media_missing", "A post on %s needs %s. Add one.", r.Title, r.requiredMedia())}
	}
	images := 0
	for _, m := range media {
		if isImage(m) {
			images++
		}
	}
	videos := len(media) - images
	var problems []Problem
	if images > 0 && videos > 0 && r.Images.Max > 0 && r.Videos.Max > 0 && !r.Media.AllowMixed {
		problems = append(problems,
			blockingProblem("media_mix", "A post on %s can have images or a video, not both. Remove one kind.", r.Title))
	}
	problems = append(problems, r.checkMediaCount(images, r.Images.Max, "image", r.Images.amount())...)
	problems = append(problems, r.checkMediaCount(videos, r.Videos.Max, "video", quantity(r.Videos.Max, "video"))...)
	if len(problems) == 0 {
		problems = r.checkMediaCount(len(media), r.Media.Max, "item", quantity(r.Media.Max, "item"))
	}
	return problems
}

// checkMediaCount returns a problem if count exceeds limit. It ignores a limit of 0, because checkMedia reports media
// that the network does not allow.
func (r Rules) checkMediaCount(count, limit int, noun, allowedText string) []Problem {
	if limit == 0 || count <= limit {
		return nil
	}
	return []Problem{
		blockingProblem("media_too_many", "A post on %s can have %s; this one has %s. Remove %d.", r.Title, allowedText,
			quantity(count, noun), count-limit),
	}
}

// requiredMedia names the kinds of media that a post needs at least one of.
func (r Rules) requiredMedia() string {
	if r.Images.Max == 0 {
		return "a video"
	}
	return "an image or a video"
}

func (i Images) amount() string {
	if i.Carousel == (Range{}) {
		return quantity(i.Max, "image")
	}
	return fmt.Sprintf("one image or %d to %d", i.Carousel.Min, i.Carousel.Max)
}

func quantity(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func isImage(m Media) bool { return m.Kind != Video }

// checkMedia returns the problems with each media item.
func (r Rules) checkMedia(media []Media) []Problem {
	var problems []Problem
	for i, m := range media {
		item := mediaItem{m, r.Title, mediaName(m, i+1)}
		switch {
		case !isImage(m):
			problems = append(problems, item.checkVideo(r.Videos)...)
		case r.Images.Single.Type != "" && m.Type == r.Images.Single.Type:
			problems = append(problems, item.checkSingleImage(r.Images.Single, len(media))...)
		default:
			problems = append(problems, item.checkImage(r.Images)...)
		}
	}
	return problems
}

func mediaName(m Media, position int) string {
	if isImage(m) {
		return fmt.Sprintf("Image %d", position)
	}
	return fmt.Sprintf("Video %d", position)
}

// mediaItem is an image or a video with the names used in messages.
type mediaItem struct {
	Media

	network, name string
}

func (m mediaItem) checkImage(rules Images) []Problem {
	if rules.Max == 0 {
		return []Problem{blockingProblem("media_type", "%s is an image, which %s does not allow. Remove it.", m.name, m.network)}
	}
	converted := slices.Contains(rules.Converted, m.Type)
	if !converted && !slices.Contains(rules.Types, m.Type) {
		return []Problem{m.wrongTypeProblem(append(slices.Clone(rules.Types), rules.Converted...))}
	}
	var problems []Problem
	if converted {
		problems = append(problems, warningProblem("media_type", "%s is a %s; %s allows %s. It will be converted%s.",
			m.name, typeNames[m.Type], m.network, listTypes(rules.Types), gifNote(m.Type)))
	}
	if rules.MaxBytes > 0 && m.Size > rules.MaxBytes {
		problems = append(problems,
			warningProblem("media_too_large", "%s has %d bytes; %s allows at most %d. It will be made smaller.",
				m.name, m.Size, m.network, rules.MaxBytes))
	}
	if side := max(m.Width, m.Height); rules.MaxSide > 0 && side > rules.MaxSide {
		problems = append(problems,
			warningProblem("media_too_large",
				"%s has %d pixels on its longer side; %s allows at most %d. It will be made smaller.",
				m.name, side, m.network, rules.MaxSide))
	}
	return append(problems, m.checkAspect(rules.AspectRatios)...)
}

// gifNote returns the end of a message about a conversion: for a GIF, that only its first frame is kept, and "" for
// other types.
func gifNote(mimeType string) string {
	if mimeType == gifType {
		return ", and only its first frame is kept"
	}
	return ""
}

func (m mediaItem) checkSingleImage(rules SingleImage, total int) []Problem {
	var problems []Problem
	if total > 1 {
		problems = append(problems,
			blockingProblem("media_mix", "%s is a %s; %s allows it only as the single image. Remove the other media.",
				m.name, typeNames[m.Type], m.network))
	}
	return append(problems, m.checkSize(rules.MaxBytes, rules.MaxSide)...)
}

func (m mediaItem) checkVideo(rules Videos) []Problem {
	if rules.Max == 0 {
		return []Problem{blockingProblem("media_type", "%s is a video, which %s does not allow. Remove it.", m.name, m.network)}
	}
	var problems []Problem
	if !slices.Contains(rules.Types, m.Type) {
		problems = append(problems, m.wrongTypeProblem(rules.Types))
	}
	problems = append(problems, m.checkSize(rules.MaxBytes, rules.MaxSide)...)
	if m.Size > 0 && m.Size < rules.MinBytes {
		problems = append(problems,
			blockingProblem("media_too_small", "%s has %d bytes; %s requires at least %d. Use a larger file.", m.name, m.Size,
				m.network, rules.MinBytes))
	}
	if rules.MaxDuration > 0 && m.Duration > time.Duration(rules.MaxDuration) {
		problems = append(problems, blockingProblem("media_too_long", "%s lasts %.0f seconds; %s allows at most %.0f. Trim it.",
			m.name, math.Ceil(m.Duration.Seconds()), m.network, rules.MaxDuration.Seconds()))
	}
	if m.Duration > 0 && m.Duration < time.Duration(rules.MinDuration) {
		problems = append(problems, blockingProblem("media_too_short",
			"%s lasts %.1f seconds; %s requires at least %g. Use a longer video.", m.name,
			math.Floor(m.Duration.Seconds()*10)/10, m.network, rules.MinDuration.Seconds()))
	}
	if side := min(m.Width, m.Height); side > 0 && side < rules.MinSide {
		problems = append(problems, blockingProblem("media_aspect",
			"%s has %d pixels on its shorter side; %s requires at least %d. Use a larger video.", m.name, side, m.network,
			rules.MinSide))
	}
	return append(problems, m.checkAspect(rules.AspectRatios)...)
}

func (m mediaItem) wrongTypeProblem(allowedTypes []string) Problem {
	return blockingProblem("media_type", "%s has a file type that %s does not support. Use %s.", m.name, m.network,
		listTypes(allowedTypes))
}

// checkSize returns the problems with a media item that exceeds a limit and cannot be made smaller.
func (m mediaItem) checkSize(maxBytes int64, maxSide int) []Problem {
	var problems []Problem
	if maxBytes > 0 && m.Size > maxBytes {
		problems = append(problems,
			blockingProblem("media_too_large", "%s has %d bytes; %s allows at most %d. Use a smaller file.", m.name, m.Size,
				m.network, maxBytes))
	}
	if side := max(m.Width, m.Height); maxSide > 0 && side > maxSide {
		problems = append(problems,
			blockingProblem("media_too_large", "%s has %d pixels on its longer side; %s allows at most %d. Use a smaller file.",
				m.name, side, m.network, maxSide))
	}
	return problems
}

// aspectTolerance is the relative deviation of an aspect ratio that is tolerated, because sizes are whole pixels and
// networks round. For example, they give the ratio of 1200 by 628 as 1.91.
const aspectTolerance = 0.003

func (m mediaItem) checkAspect(limits AspectRange) []Problem {
	if limits == (AspectRange{}) || m.Width <= 0 || m.Height <= 0 {
		return nil
	}
	ratio := float64(m.Width) / float64(m.Height)
	if ratio >= limits.Tallest.ratio()*(1-aspectTolerance) && ratio <= limits.Widest.ratio()*(1+aspectTolerance) {
		return nil
	}
	return []Problem{blockingProblem("media_aspect", "%s has %d × %d pixels; %s allows aspect ratios from %s to %s. Crop it.",
		m.name, m.Width, m.Height, m.network, limits.Tallest, limits.Widest)}
}

var typeNames = map[string]string{
	jpegType: "JPEG", pngType: "PNG", webpType: "WebP", gifType: "GIF", mp4Type: "MP4", quickTimeType: "MOV",
	webmType: "WebM",
}

// listTypes formats the names of MIME types as a list to display, such as "JPEG, PNG or WebP".
func listTypes(types []string) string {
	names := make([]string, len(types))
	for i, mimeType := range types {
		names[i] = typeNames[mimeType]
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func blockingProblem(code, format string, args ...any) Problem {
	return Problem{Code: code, Blocking: true, Message: fmt.Sprintf(format, args...)}
}

// warningProblem returns a problem that does not block the post.
func warningProblem(code, format string, args ...any) Problem {
	return Problem{Code: code, Message: fmt.Sprintf(format, args...)}
}
