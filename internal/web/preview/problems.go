package preview

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// problemForms are the texts with values of what networks refuse, as package network writes them. The API has only the
// complete texts, so their values are read from them.
var problemForms = []locale.Key{
	"A post on %s needs text, an image or a video. Add one.",
	"A post on %s needs %s. Add one.",
	"%s does not allow the character %s. Remove it.",
	"Too long for %s: %s/%s %s. Shorten the text.",
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
	"Audiences: %s. Longest video: %s minutes. Turned off: %s",
	"Audiences: %s. Longest video: %s minutes",
	"Audiences: %s. Longest video: %s seconds. Turned off: %s",
	"Audiences: %s. Longest video: %s seconds",
	"Audiences: %s. Turned off: %s",
	"Audiences: %s",
	offerForm,
}

// valueForms are the values of problems that are words.
var valueForms = []locale.Key{
	"one image or %s to %s", "an image or a video", "a video", "one image", "one video", "one item", "%s images", "%s videos",
	"%s items", "Image %s", "Video %s", "%s or %s",
}

// offerForm is the refusal of an audience that a TikTok account does not offer.
const offerForm locale.Key = "This account does not offer the audience “%s”. Choose from: %s."

// apiField is the name of an API field in a problem.
var apiField = regexp.MustCompile(` \(options\.[a-z_.]+\)`)

// settingsPrefix begins the summary of the posting settings of a TikTok account.
const settingsPrefix = "Audiences: "

// wholeMinutes returns the longest video of the summary in minutes, if it is whole and more than one.
func wholeMinutes(text string) string {
	return videoSeconds.ReplaceAllStringFunc(text, func(found string) string {
		n, err := strconv.Atoi(videoSeconds.FindStringSubmatch(found)[1])
		if err != nil || n < 120 || n%60 != 0 {
			return found
		}
		return "Longest video: " + strconv.Itoa(n/60) + " minutes"
	})
}

// videoSeconds is the longest video in this summary.
var videoSeconds = regexp.MustCompile(`Longest video: (\d+) seconds`)

// audiences are the names of TikTok's audiences in this summary.
var audiences = []shell.Choice{
	{Value: "PUBLIC_TO_EVERYONE", Name: "Everyone"},
	{Value: "MUTUAL_FOLLOW_FRIENDS", Name: "Friends"},
	{Value: "FOLLOWER_OF_CREATOR", Name: "Followers"},
	{Value: "SELF_ONLY", Name: "Only me"},
}

// form is a text with a pattern that finds its values.
type form struct {
	key     locale.Key
	pattern *regexp.Regexp
}

func formsOf(keys []locale.Key) []form {
	out := make([]form, len(keys))
	for i, key := range keys {
		out[i] = form{key, regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(string(key)), "%s", "(.+?)") + "$")}
	}
	return out
}

// forms are the patterns of problems and of values, made on first use.
var forms = sync.OnceValues(func() ([]form, []form) { return formsOf(problemForms), formsOf(valueForms) })

// fraction matches a number with decimals, and a ratio of such a number to 1.
var fraction = regexp.MustCompile(`^\d+\.\d+(:1)?$`)

// ProblemText returns the text of what a network refuses in a language, or in English if it has no translation. It names
// the audiences of a TikTok account instead of their codes, and no fields of the API. Its longest video is in minutes.
func ProblemText(l *locale.Language, text string) string {
	if strings.HasPrefix(text, settingsPrefix) {
		text = wholeMinutes(text)
	}
	out := text
	if l != locale.English {
		problems, _ := forms()
		out = translate(l, problems, text)
	}
	if strings.HasPrefix(text, settingsPrefix) {
		for _, a := range audiences {
			out = strings.ReplaceAll(out, a.Value, l.T(a.Name))
		}
	}
	return apiField.ReplaceAllString(out, "")
}

// translateValue translates a value of a problem. Names of audiences are a list.
func translateValue(l *locale.Language, problem locale.Key, values []form, value string) string {
	if problem != offerForm {
		return translate(l, values, value)
	}
	names := strings.Split(value, ", ")
	for i, name := range names {
		names[i] = shell.Text(l, name)
	}
	return strings.Join(names, ", ")
}

func translate(l *locale.Language, all []form, text string) string {
	if fraction.MatchString(text) {
		return l.Point(text)
	}
	_, values := forms()
	for _, f := range all {
		found := f.pattern.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		args := make([]any, len(found)-1)
		for i, value := range found[1:] {
			args[i] = translateValue(l, f.key, values, value)
		}
		return l.T(f.key, args...)
	}
	return shell.Text(l, text)
}
