package preview

import (
	"regexp"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// problemFormats lists the formats of the problem texts that contain values, as package network writes them. The API
// returns only complete texts, so translate parses the values from the texts.
var problemFormats = []locale.Key{
	"A post on %s needs text, an image or a video. Add one.",
	"A post on %s needs %s. Add one.",
	"%s does not allow the character %s. Remove it.",
	"Too long for %s: %s/%s %s. Shorten the text.",
	"The title is too long for %s: %s/%s %s. Shorten it.",
	"%s does not allow the character %s in a title. Remove it.",
	"Too many %s for %s: %s/%s. Remove %s.",
	"The text has %s %s; %s may ignore more than %s.",
	"The text has %s hashtags; Instagram rejected a post with more than %s. Remove %s.",
	"A post on %s can have images or a video, not both. Remove one kind.",
	"A post on %s can have %s; this one has %s. Remove %s.",
	"%s is an image, which %s does not allow. Remove it.",
	"%s is a video, which %s does not allow. Remove it.",
	"%s is a %s; %s allows %s. It will be converted, and only its first frame is kept.",
	"%s is a %s; %s allows %s. It will be converted.",
	"%s is a %s; %s allows it only as the single image. Remove the other media.",
	"%s has %s bytes; %s allows at most %s. It will be made smaller.",
	"%s has %s bytes; %s allows at most %s. Use a smaller file.",
	"%s has %s bytes; %s requires at least %s. Use a larger file.",
	"%s has %s pixels on its longer side; %s allows at most %s. It will be made smaller.",
	"%s has %s pixels on its longer side; %s allows at most %s. Use a smaller file.",
	"%s has %s pixels on its shorter side; %s requires at least %s. Use a larger video.",
	"The video lasts %s seconds; TikTok allows at most %s for this account. Trim it.",
	"%s lasts %s seconds; %s allows at most %s. Trim it.",
	"%s lasts %s seconds; %s requires at least %s. Use a longer video.",
	"%s has a file type that %s does not support. Use %s.",
	"%s has %s × %s pixels; %s allows aspect ratios from %s to %s. Crop it.",
	"This account does not offer the audience “%s”. Choose from: %s.",
	"A story on %s needs an image or a video. Add one.",
	"A story on %s has one image or video; this one has %s. Remove %s.",
	"A story on %s has no text. The text of the post is not sent.",
	"%s has %s × %s pixels; a story on %s fills the screen with 9:16. Crop it.",
	"The thread is incomplete: 1 part is published. %s",
	"The thread is incomplete: %s parts are published. %s",
	"The post is published, but not its first comment. %s",
	"%s takes no first comment. The post is published there without it.",
	"%s has no threads. Remove the other parts, or remove the account.",
}

// valueFormats lists the formats of values that are words and can be translated.
var valueFormats = []locale.Key{
	"one image or %s to %s", "an image or a video", "a video", "one image", "one video", "one item", "%s images", "%s videos",
	"%s items", "Image %s", "Video %s", "%s or %s",
}

// apiField matches the name of an API field in a problem's text.
var apiField = regexp.MustCompile(` \(options\.[a-z_.]+\)`)

// textPattern is a format with a pattern that matches its texts and captures the values.
type textPattern struct {
	key     locale.Key
	pattern *regexp.Regexp
}

func textPatterns(keys []locale.Key) []textPattern {
	out := make([]textPattern, len(keys))
	for i, key := range keys {
		out[i] = textPattern{key, regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(string(key)), "%s",
			"(.+?)") + "$")}
	}
	return out
}

// forms returns the patterns of problems and of values.
var forms = sync.OnceValues(func() ([]textPattern, []textPattern) {
	return textPatterns(problemFormats), textPatterns(valueFormats)
})

// fraction matches a number with decimals, such as 1.91, and a ratio to 1, such as 1.91:1.
var fraction = regexp.MustCompile(`^\d+\.\d+(:1)?$`)

// ProblemText translates the text of a problem and removes the names of API fields from it. If there is no translation,
// the text stays in English.
func ProblemText(l *locale.Language, text string) string {
	if !l.IsEnglish() {
		problems, _ := forms()
		text = translate(l, problems, text)
	}
	return apiField.ReplaceAllString(text, "")
}

// translateValue translates a value in a problem's text. The value may be a list.
func translateValue(l *locale.Language, values []textPattern, value string) string {
	if out := shell.TranslateText(l, value); out != value {
		return out
	}
	if out := translate(l, values, value); out != value {
		return out
	}
	items := strings.Split(value, ", ")
	for i, item := range items {
		items[i] = shell.TranslateText(l, item)
	}
	return strings.Join(items, ", ")
}

func translate(l *locale.Language, all []textPattern, text string) string {
	if fraction.MatchString(text) {
		return l.LocalizeDecimal(text)
	}
	_, values := forms()
	for _, f := range all {
		found := f.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		args := make([]any, len(found)-1)
		for i, value := range found[1:] {
			args[i] = translateValue(l, values, value)
		}
		return l.T(f.key, args...)
	}
	return shell.TranslateText(l, text)
}
