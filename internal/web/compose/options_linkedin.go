package compose

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	linkedIn = "linkedin"

	maxLinkedInQuestion = 140  // characters
	maxLinkedInChoice   = 30   // characters
	maxArticleSource    = 2000 // characters
	maxArticleTitle     = 400  // characters
	maxArticleText      = 4000 // characters
	maxMentions         = 20
	maxMentionName      = 100 // characters
	usualLinkedInPoll   = "SEVEN_DAYS"
	organizationURN     = "urn:li:organization:"
)

// linkedInVisibilities are the audiences that a LinkedIn post can have. The first one is the default.
var linkedInVisibilities = []shell.Choice{{Value: "PUBLIC", Name: "Anyone"}, {Value: "CONNECTIONS", Name: "Connections only"}}

// linkedInPollLengths are the possible durations of a poll on LinkedIn.
var linkedInPollLengths = []shell.Choice{
	{Value: "ONE_DAY", Name: "1 day"}, {Value: "THREE_DAYS", Name: "3 days"}, {Value: "SEVEN_DAYS", Name: "7 days"},
	{Value: "FOURTEEN_DAYS", Name: "14 days"},
}

// mentionURN matches the URN of a person or a company.
var mentionURN = regexp.MustCompile(`^urn:li:(person|organization):[A-Za-z0-9_-]{1,80}$`)

// readLinkedIn reads the LinkedIn options from a form into o. It leaves o.LinkedIn unset if the form has none.
func readLinkedIn(form url.Values, o *network.Options) {
	l := network.LinkedInOptions{
		Visibility: form.Get("linkedin-visibility"), Poll: readLinkedInPoll(form),
		Mentions: readMentions(textOf(form, "linkedin-mentions")),
	}
	// If the card has no title, delivery reads its texts from the linked page.
	if form.Get("linkedin-article") == yes {
		l.Article = &network.LinkedInOptionsArticle{
			Source:      strings.TrimSpace(form.Get("linkedin-article-source")),
			Title:       strings.TrimSpace(textOf(form, "linkedin-article-title")),
			Description: strings.TrimSpace(textOf(form, "linkedin-article-description")),
		}
		l.Article.ThumbnailMediaID, _ = strconv.ParseInt(form.Get("linkedin-article-thumbnail"), 10, 64) // checked later
	}
	if !l.IsZero() {
		o.LinkedIn = &l
	}
}

// readLinkedInPoll returns the LinkedIn poll in a form, or nil if there is none.
func readLinkedInPoll(form url.Values) *network.LinkedInOptionsPoll {
	if form.Get("linkedin-add-poll") != yes {
		return nil
	}
	poll := network.LinkedInOptionsPoll{
		Question: strings.TrimSpace(textOf(form, "linkedin-question")), Options: readChoicesOf(form, "linkedin-poll"),
	}
	poll.Duration = usualLinkedInPoll
	if length := form.Get("linkedin-poll-length"); shell.IsOffered(linkedInPollLengths, length) {
		poll.Duration = length
	}
	return &poll
}

// readMentions returns the mentions in a text, which has one "name = URN" per line. A URN that is only a number is the
// ID of a company.
func readMentions(text string) []network.LinkedInMention {
	var out []network.LinkedInMention
	for line := range strings.Lines(text) {
		name, urn := line, ""
		if i := strings.LastIndex(line, "="); i >= 0 {
			name, urn = line[:i], line[i+1:]
		}
		m := network.LinkedInMention{Name: strings.TrimPrefix(strings.TrimSpace(name), "@"), URN: strings.TrimSpace(urn)}
		if _, err := strconv.ParseUint(m.URN, 10, 64); err == nil {
			m.URN = organizationURN + m.URN
		}
		if m != (network.LinkedInMention{}) {
			out = append(out, m)
		}
	}
	return out
}

// linkedInErrors returns the errors of the LinkedIn options, each with its field. Package network/linkedin checks the
// rest.
func linkedInErrors(o network.Options) []error {
	l := o.LinkedIn
	if l == nil {
		return nil
	}
	var out []error
	if l.Visibility != "" && !shell.IsOffered(linkedInVisibilities, l.Visibility) {
		out = append(out, apierr.Invalid(apierr.NotAllowedValue, "linkedin-visibility", "Choose who can see the post on LinkedIn."))
	}
	if l.Poll != nil {
		if l.Poll.Question == "" {
			out = append(out, apierr.Invalid(apierr.TooShort, "linkedin-question", "Write the question of the poll."))
		}
		out = append(out, nonNil(tooLong("linkedin-question", l.Poll.Question, maxLinkedInQuestion))...)
		out = append(out, pollErrors("linkedin-poll", l.Poll.Options, maxLinkedInChoice)...)
	}
	if l.Article != nil {
		out = append(out, nonNil(
			tooLong("linkedin-article-source", l.Article.Source, maxArticleSource),
			tooLong("linkedin-article-title", l.Article.Title, maxArticleTitle),
			tooLong("linkedin-article-description", l.Article.Description, maxArticleText),
		)...)
	}
	isInvalid := func(m network.LinkedInMention) bool {
		return m.Name == "" || utf8.RuneCountInString(m.Name) > maxMentionName || !mentionURN.MatchString(m.URN)
	}
	if len(l.Mentions) > maxMentions || slices.ContainsFunc(l.Mentions, isInvalid) {
		out = append(out, apierr.Invalid(apierr.Malformed, "linkedin-mentions",
			"Enter up to 20 mentions, one per line: the name on LinkedIn, an equals sign, and the number of a company or a URN."))
	}
	return out
}

// LinkedInChoices returns the LinkedIn options in the form, or the zero value if there are none.
func (v *view) LinkedInChoices() network.LinkedInOptions {
	return network.ValueOrZero(v.Choices.LinkedIn)
}

// LinkedInVisibilities returns all visibilities except the default, which the template lists itself.
func (*view) LinkedInVisibilities() []shell.Choice { return linkedInVisibilities[1:] }

// LinkedInArticle returns the LinkedIn link card in the form, or the zero value if there is none.
func (v *view) LinkedInArticle() network.LinkedInOptionsArticle {
	if article := v.LinkedInChoices().Article; article != nil {
		return *article
	}
	return network.LinkedInOptionsArticle{}
}

// LinkedInQuestion returns the question of the poll on LinkedIn, or "" if there is no poll.
func (v *view) LinkedInQuestion() string {
	if poll := v.LinkedInChoices().Poll; poll != nil {
		return poll.Question
	}
	return ""
}

// LinkedInPoll returns the choices of the poll on LinkedIn, padded with empty strings to maxPollChoices.
func (v *view) LinkedInPoll() []string {
	out := make([]string, maxPollChoices)
	if poll := v.LinkedInChoices().Poll; poll != nil {
		copy(out, poll.Options)
	}
	return out
}

// LinkedInPollLengths returns the possible durations of a poll on LinkedIn. The chosen one is selected.
func (v *view) LinkedInPollLengths() []box {
	length := usualLinkedInPoll
	if poll := v.LinkedInChoices().Poll; poll != nil && poll.Duration != "" {
		length = poll.Duration
	}
	return boxes(linkedInPollLengths, []string{length})
}

// LinkedInMentions returns the mentions as a text that readMentions can read.
func (v *view) LinkedInMentions() string {
	var lines []string
	for _, m := range v.LinkedInChoices().Mentions {
		line := m.Name
		if m.URN != "" {
			line += " = " + strings.TrimPrefix(m.URN, organizationURN)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
