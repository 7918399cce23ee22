package voice

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/domain/provider"
)

// normalize validates and normalizes a draft: it removes invisible characters and empty and duplicate list items, and
// canonicalizes the language. Errors name the argument. normalize is idempotent.
func normalize(d Draft) (Draft, error) {
	var t normalizer
	d.Name = t.line("name", d.Name, MaxNameLength)
	if d.Name == "" {
		t.reject(apierr.Invalid(apierr.MissingArgument, "name", "A brand voice needs a name."))
	}
	d.BusinessDescription = t.lines("business_description", d.BusinessDescription, MaxDescriptionLength)
	d.Tone = t.lines("tone", d.Tone, MaxToneLength)
	d.CustomInstructions = t.lines("custom_instructions", d.CustomInstructions, MaxInstructionsLength)
	d.Audiences = t.audiences(d.Audiences)
	d.Use = t.wording("use", d.Use)
	d.Avoid = t.wording("avoid", d.Avoid)
	t.checkDisjoint("avoid.words", d.Use.Words, d.Avoid.Words)
	t.checkDisjoint("avoid.phrases", d.Use.Phrases, d.Avoid.Phrases)
	t.checkOneOf("point_of_view", string(d.PointOfView), string(FirstSingular), string(FirstPlural), string(Second),
		string(Third))
	t.checkOneOf("emoji_policy", string(d.EmojiPolicy), string(NoEmoji), string(FewEmoji), string(EmojiAtWill))
	d.ContentLanguage = t.language(d.ContentLanguage)
	if t.err != nil {
		return Draft{}, t.err
	}
	return d, checkTotalLength(d)
}

// checkTotalLength returns an error if the text block of the draft is too long.
func checkTotalLength(d Draft) error {
	text, err := assemble(d)
	if err == nil && utf8.RuneCountInString(text) > MaxTextLength {
		err = apierr.Invalidf(apierr.TooLong, "",
			"The brand voice is limited to %d characters in total. Shorten some of its texts.", MaxTextLength)
	}
	return err
}

// normalizer normalizes texts and keeps the first error.
type normalizer struct{ err error }

func (t *normalizer) reject(err error) {
	if t.err == nil {
		t.err = err
	}
}

// lines normalizes a multi-line text.
func (t *normalizer) lines(argument, text string, limit int) string {
	return t.text(argument, text, limit, normalizeLines)
}

// line normalizes a single-line text. Line breaks become spaces.
func (t *normalizer) line(argument, text string, limit int) string {
	return t.text(argument, text, limit, normalizeLine)
}

func (t *normalizer) text(argument, text string, limit int, fn func(string) string) string {
	switch {
	case !utf8.ValidString(text):
		t.reject(apierr.Invalidf(apierr.Malformed, argument, "The argument %s is not valid Unicode.", argument))
		return ""
	case apikey.ContainsSecret(text):
		t.reject(errSecret.With("argument", argument))
		return ""
	}
	text = fn(text)
	if utf8.RuneCountInString(text) > limit {
		t.reject(apierr.Invalidf(apierr.TooLong, argument, "The argument %s is limited to %d characters.",
			argument, limit))
	}
	return text
}

var errSecret = apierr.Invalid(apierr.SecretInArgument, "", "The text contains an API key or an upload secret. "+
	"Nothing was stored. Remove it, and revoke the secret if others may have seen it.")

func (t *normalizer) audiences(list []BrandVoiceAudience) []BrandVoiceAudience {
	out := []BrandVoiceAudience{}
	for _, a := range list {
		a.Name = t.line("audiences.name", a.Name, MaxNameLength)
		a.Description = t.lines("audiences.description", a.Description, MaxAudienceLength)
		if a == (BrandVoiceAudience{}) {
			continue
		}
		if a.Name == "" {
			t.reject(apierr.Invalid(apierr.MissingArgument, "audiences.name", "Each audience needs a name."))
		}
		out = append(out, a)
	}
	t.checkCount("audiences", len(out), MaxAudiences)
	return out
}

func (t *normalizer) wording(argument string, w BrandVoiceUse) BrandVoiceUse {
	return BrandVoiceUse{Words: t.list(argument+".words", w.Words, MaxWords, MaxWordLength),
		Phrases: t.list(argument+".phrases",
			w.Phrases, MaxPhrases, MaxPhraseLength)}
}

func (t *normalizer) list(argument string, texts []string, limit, maxLength int) []string {
	out := []string{}
	for _, text := range texts {
		if text = t.line(argument, text, maxLength); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
		if t.checkCount(argument, len(out), limit); t.err != nil {
			break
		}
	}
	return out
}

func (t *normalizer) checkCount(argument string, n, limit int) {
	if n > limit {
		t.reject(apierr.Invalidf(apierr.TooLong, argument, "The argument %s is limited to %d items.",
			argument, limit))
	}
}

// checkDisjoint rejects lists that have an item in common.
func (t *normalizer) checkDisjoint(argument string, use, avoid []string) {
	if slices.ContainsFunc(avoid, func(text string) bool { return slices.Contains(use, text) }) {
		t.reject(apierr.Invalidf(apierr.NotAllowedValue, argument, "The argument %s contains items that are also to be used.",
			argument))
	}
}

func (t *normalizer) checkOneOf(argument, value string, values ...string) {
	if value != "" && !slices.Contains(values, value) {
		t.reject(apierr.Invalidf(apierr.NotAllowedValue, argument, "The argument %s must be one of: %s.",
			argument, strings.Join(values, ", ")))
	}
}

func (t *normalizer) language(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	name, ok := canonicalLanguage(text)
	if !ok {
		t.reject(apierr.Invalid(apierr.Malformed, "content_language",
			"The argument content_language must be a BCP 47 language tag, such as en, pt-BR or zh-Hant."))
	}
	return name
}

const maxLanguageBytes = 35 // minimum that implementations must support (RFC 5646, section 4.4.1)

// canonicalLanguage returns a BCP 47 tag in canonical form. It reports false if the tag is invalid. It rejects tags
// with extensions, which select things such as calendars and collations.
func canonicalLanguage(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if len(text) > maxLanguageBytes {
		return "", false
	}
	tag, err := language.Parse(text)
	if err != nil || strings.HasPrefix(tag.String(), "und") || len(tag.Extensions()) > 0 {
		return "", false
	}
	return tag.String(), true
}

// lineBreakReplacer normalizes line terminators and tabs.
var lineBreakReplacer = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n",
	"\u2029", "\n", "\t", "    ")

// normalizeLine is normalizeLines for a single line with single spaces.
func normalizeLine(text string) string {
	text = removeHidden(lineBreakReplacer.Replace(text))
	return normalizeLines(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' }),
		" "))
}

// normalizeLines removes hidden characters, trailing spaces, and all but one empty line between paragraphs.
func normalizeLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(removeHidden(lineBreakReplacer.Replace(text)), "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if !strings.ContainsFunc(line, isVisible) {
			line = ""
		}
		if line != "" || len(lines) > 0 && lines[len(lines)-1] != "" {
			lines = append(lines, line)
		}
	}
	return norm.NFC.String(strings.TrimSpace(strings.Join(lines, "\n")))
}

func isVisible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// subdivisionFlags matches emoji flags of regions such as Scotland. They contain tag characters, which are removed
// elsewhere.
var subdivisionFlags = regexp.MustCompile(`\x{1F3F4}[\x{E0030}-\x{E0039}\x{E0061}-\x{E007A}]{3,6}\x{E007F}`)

// removeHidden removes characters that a language model reads but a person cannot see, and characters that reorder
// lines. The person who approves a voice must have seen all of it.
func removeHidden(text string) string {
	var out strings.Builder
	rest := 0
	for _, at := range subdivisionFlags.FindAllStringIndex(text, -1) {
		out.WriteString(strings.Map(dropHidden, text[rest:at[0]]) + text[at[0]:at[1]])
		rest = at[1]
	}
	return out.String() + strings.Map(dropHidden, text[rest:])
}

func dropHidden(r rune) rune {
	switch {
	case r == '\n':
		return r
	case unicode.IsControl(r), unicode.Is(hiddenRunes, r):
		return -1
	}
	return r
}

// hiddenRunes are format characters that no script needs: bidirectional embeddings and overrides, invisible joiners and
// operators, annotations, byte order marks and tags. Bidirectional isolates and marks are allowed, because they suffice
// and end with the line.
var hiddenRunes = &unicode.RangeTable{
	R16: []unicode.Range16{{0x180e, 0x180e, 1}, {0x202a, 0x202e, 1}, {0x2060, 0x2065, 1}, {0x206a, 0x206f, 1},
		{0xfeff, 0xfeff, 1}, {0xfff9, 0xfffb, 1}},
	R32: []unicode.Range32{{0xe0000, 0xe007f, 1}},
}

// foldName returns the form of a name that is used to find duplicates.
func foldName(name string) string { return provider.NormalizeText(name) }
