package voice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/domain/provider"
)

// tidy is a draft as it is kept: texts without what nobody sees, lists without what is empty or there twice, the
// language in its canonical form. What cannot be kept is refused with the name of its argument. A tidied draft stays
// as it is.
func tidy(d Draft) (Draft, error) {
	var t tidier
	d.Name = t.line("name", d.Name, MaxName)
	if d.Name == "" {
		t.refuse(apierr.Invalid(apierr.MissingArgument, "name", "A brand voice needs a name."))
	}
	d.BusinessDescription = t.lines("business_description", d.BusinessDescription, MaxDescription)
	d.Tone = t.lines("tone", d.Tone, MaxTone)
	d.CustomInstructions = t.lines("custom_instructions", d.CustomInstructions, MaxInstructions)
	d.Audiences = t.audiences(d.Audiences)
	d.Use = t.wording("use", d.Use)
	d.Avoid = t.wording("avoid", d.Avoid)
	t.apart("avoid.words", d.Use.Words, d.Avoid.Words)
	t.apart("avoid.phrases", d.Use.Phrases, d.Avoid.Phrases)
	t.oneOf("point_of_view", string(d.PointOfView), string(FirstSingular), string(FirstPlural), string(Second), string(Third))
	t.oneOf("emoji_policy", string(d.EmojiPolicy), string(NoEmoji), string(FewEmoji), string(EmojiAtWill))
	d.ContentLanguage = t.language(d.ContentLanguage)
	if t.err != nil {
		return Draft{}, t.err
	}
	return d, inAll(d)
}

// inAll refuses a voice whose text block would be too long to hand to anybody.
func inAll(d Draft) error {
	text, err := assemble(d)
	if err == nil && utf8.RuneCountInString(text) > MaxText {
		err = apierr.Invalid(apierr.TooLong, "", fmt.Sprintf("All that a brand voice says takes at most %d characters together.", MaxText))
	}
	return err
}

// tidier tidies one text after the other and keeps the first refusal.
type tidier struct{ err error }

func (t *tidier) refuse(err error) {
	if t.err == nil {
		t.err = err
	}
}

// lines tidies a text of several lines.
func (t *tidier) lines(argument, text string, most int) string {
	return t.fit(argument, text, most, tidyLines)
}

// line tidies a text of one line; breaks become spaces.
func (t *tidier) line(argument, text string, most int) string {
	return t.fit(argument, text, most, tidyLine)
}

func (t *tidier) fit(argument, text string, most int, tidy func(string) string) string {
	switch {
	case !utf8.ValidString(text):
		t.refuse(apierr.Invalid(apierr.Malformed, argument, "The argument "+argument+" is not valid Unicode."))
		return ""
	case apikey.In(text):
		t.refuse(errSecret.With("argument", argument))
		return ""
	}
	text = tidy(text)
	if utf8.RuneCountInString(text) > most {
		t.refuse(apierr.Invalid(apierr.TooLong, argument, fmt.Sprintf("The argument %s takes at most %d characters. It is not shortened.", argument, most)))
	}
	return text
}

var errSecret = apierr.Invalid(apierr.SecretInArgument, "", "This text holds an API key or an upload secret. Nothing was done with it; take it out, and replace the secret if others can have seen it.")

func (t *tidier) audiences(given []Audience) []Audience {
	out := []Audience{}
	for _, a := range given {
		a.Name = t.line("audiences.name", a.Name, MaxName)
		a.Description = t.lines("audiences.description", a.Description, MaxAudience)
		if a == (Audience{}) {
			continue
		}
		if a.Name == "" {
			t.refuse(apierr.Invalid(apierr.MissingArgument, "audiences.name", "Each audience needs a name."))
		}
		out = append(out, a)
	}
	t.most("audiences", len(out), MaxAudiences)
	return out
}

func (t *tidier) wording(argument string, w Wording) Wording {
	return Wording{Words: t.list(argument+".words", w.Words, MaxWords, MaxWord), Phrases: t.list(argument+".phrases", w.Phrases, MaxPhrases, MaxPhrase)}
}

func (t *tidier) list(argument string, given []string, most, longest int) []string {
	out := []string{}
	for _, text := range given {
		if text = t.line(argument, text, longest); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
		if t.most(argument, len(out), most); t.err != nil {
			break
		}
	}
	return out
}

func (t *tidier) most(argument string, n, most int) {
	if n > most {
		t.refuse(apierr.Invalid(apierr.TooLong, argument, fmt.Sprintf("The argument %s takes at most %d items.", argument, most)))
	}
}

// apart refuses what is to be used and to be avoided.
func (t *tidier) apart(argument string, use, avoid []string) {
	if slices.ContainsFunc(avoid, func(text string) bool { return slices.Contains(use, text) }) {
		t.refuse(apierr.Invalid(apierr.NotAllowedValue, argument, "The argument "+argument+" holds what is to be used as well."))
	}
}

func (t *tidier) oneOf(argument, value string, values ...string) {
	if value != "" && !slices.Contains(values, value) {
		t.refuse(apierr.Invalid(apierr.NotAllowedValue, argument, fmt.Sprintf("The argument %s takes one of: %s.", argument, strings.Join(values, ", "))))
	}
}

func (t *tidier) language(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	name, ok := canonical(text)
	if !ok {
		t.refuse(apierr.Invalid(apierr.Malformed, "content_language", "The argument content_language has to be a language of BCP 47, such as en, pt-BR or zh-Hant."))
	}
	return name
}

const longestLanguage = 35 // bytes; what RFC 5646 (4.4.1) has everybody take

// canonical is the canonical form of a language's BCP 47 tag, without extensions: they choose calendars and sorting,
// which is no matter of writing.
func canonical(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) > longestLanguage {
		return "", false
	}
	tag, err := language.Parse(text)
	if err != nil || strings.HasPrefix(tag.String(), "und") || len(tag.Extensions()) > 0 {
		return "", false
	}
	return tag.String(), true
}

// breaks are all that ends a line, as texts from everywhere have it, and tabs.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n", "\t", "    ")

// tidyLine is tidyLines of a text of one line, with single spaces.
func tidyLine(text string) string {
	text = withoutHidden(breaks.Replace(text))
	return tidyLines(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' }), " "))
}

// tidyLines is a text without what nobody sees: hidden signs, spaces at the ends of lines, empty lines but one between
// paragraphs.
func tidyLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(withoutHidden(breaks.Replace(text)), "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if !strings.ContainsFunc(line, isSeen) {
			line = ""
		}
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return norm.NFC.String(strings.TrimSpace(strings.Join(lines, "\n")))
}

func isSeen(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// flags are those of regions, whose letters are signs that are not seen by themselves.
var flags = regexp.MustCompile(`\x{1F3F4}[\x{E0030}-\x{E0039}\x{E0061}-\x{E007A}]{3,6}\x{E007F}`)

// withoutHidden takes out what people do not see but a language model reads, or what shows a line in another order
// than it is read: a person who approves a voice has to have seen all of it.
func withoutHidden(text string) string {
	var out strings.Builder
	rest := 0
	for _, at := range flags.FindAllStringIndex(text, -1) {
		out.WriteString(strings.Map(withoutSign, text[rest:at[0]]) + text[at[0]:at[1]])
		rest = at[1]
	}
	return out.String() + strings.Map(withoutSign, text[rest:])
}

func withoutSign(r rune) rune {
	switch {
	case r == '\n':
		return r
	case unicode.IsControl(r), unicode.Is(hidden, r):
		return -1
	}
	return r
}

// hidden are formats that no script needs: embeddings and overrides of direction (isolates and marks do that work and
// end with their line), joiners without effect, invisible operators, annotations, byte order marks and tags.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{{0x180e, 0x180e, 1}, {0x202a, 0x202e, 1}, {0x2060, 0x2065, 1}, {0x206a, 0x206f, 1}, {0xfeff, 0xfeff, 1}, {0xfff9, 0xfffb, 1}},
	R32: []unicode.Range32{{0xe0000, 0xe007f, 1}},
}

// folded is a name as two of them are compared.
func folded(name string) string { return provider.Folded(name) }
