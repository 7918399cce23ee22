package voice

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestNormalizeRejects(t *testing.T) {
	t.Parallel()
	many := func(n int, form string) []string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(form, i)
		}
		return out
	}
	key := apikey.New(apikey.APIKey)
	for name, c := range map[string]struct {
		change           func(d *Draft)
		reason, argument string
	}{
		"no name":                   {func(d *Draft) { d.Name = " \u200b\t" }, apierr.MissingArgument, "name"},
		"a long name":               {func(d *Draft) { d.Name = strings.Repeat("é", MaxNameLength+1) }, apierr.TooLong, "name"},
		"invalid UTF-8 in the name": {func(d *Draft) { d.Name = "a\xff" }, apierr.Malformed, "name"},
		"a long description": {func(d *Draft) { d.BusinessDescription = strings.Repeat("a", MaxDescriptionLength+1) },
			apierr.TooLong, "business_description"},
		"a long tone": {func(d *Draft) { d.Tone = strings.Repeat("a", MaxToneLength+1) }, apierr.TooLong, "tone"},
		"long instructions": {func(d *Draft) { d.CustomInstructions = strings.Repeat("a", MaxInstructionsLength+1) },
			apierr.TooLong, "custom_instructions"},
		"a point of view": {func(d *Draft) { d.PointOfView = "fourth_person" }, apierr.NotAllowedValue,
			"point_of_view"},
		"an emoji policy": {func(d *Draft) { d.EmojiPolicy = "☕" }, apierr.NotAllowedValue, "emoji_policy"},
		"an audience, no name": {func(d *Draft) { d.Audiences = []BrandVoiceAudience{{Description: "x"}} },
			apierr.MissingArgument, "audiences.name"},
		"an audience's name": {func(d *Draft) { d.Audiences = []BrandVoiceAudience{{Name: strings.Repeat("a", MaxNameLength+1)}} },
			apierr.TooLong, "audiences.name"},
		"a long audience": {func(d *Draft) {
			d.Audiences = []BrandVoiceAudience{{"a", strings.Repeat("a", MaxAudienceLength+1)}}
		}, apierr.TooLong,
			"audiences.description"},
		"many audiences": {func(d *Draft) { d.Audiences = tooManyAudiences() }, apierr.TooLong, "audiences"},
		"many words": {func(d *Draft) { d.Use.Words = many(MaxWords+1, "w%d") }, apierr.TooLong,
			"use.words"},
		"a long word": {func(d *Draft) { d.Avoid.Words = []string{strings.Repeat("a", MaxWordLength+1)} },
			apierr.TooLong, "avoid.words"},
		"many phrases": {func(d *Draft) { d.Avoid.Phrases = many(MaxPhrases+1, "p %d") }, apierr.TooLong,
			"avoid.phrases"},
		"a long phrase": {func(d *Draft) { d.Use.Phrases = []string{strings.Repeat("a", MaxPhraseLength+1)} },
			apierr.TooLong, "use.phrases"},
		"word in both lists": {func(d *Draft) { d.Use.Words, d.Avoid.Words = []string{"a", "b"}, []string{" b"} },
			apierr.NotAllowedValue, "avoid.words"},
		"phrase in both lists": {func(d *Draft) {
			d.Use.Phrases, d.Avoid.Phrases = []string{"a\nb"},
				[]string{"a b"}
		}, apierr.NotAllowedValue, "avoid.phrases"},
		"no language": {func(d *Draft) { d.ContentLanguage = "german" }, apierr.Malformed,
			"content_language"},
		"an unknown language": {func(d *Draft) { d.ContentLanguage = "qq" }, apierr.Malformed, "content_language"},
		"any language":        {func(d *Draft) { d.ContentLanguage = "und" }, apierr.Malformed, "content_language"},
		"a private language": {func(d *Draft) { d.ContentLanguage = "x-ours" }, apierr.Malformed,
			"content_language"},
		"an extended language": {func(d *Draft) { d.ContentLanguage = "en-u-ca-buddhist" }, apierr.Malformed,
			"content_language"},
		"a language and more": {func(d *Draft) { d.ContentLanguage = "en\n# Heading" }, apierr.Malformed,
			"content_language"},
		"a long language": {func(d *Draft) { d.ContentLanguage = "en-" + strings.Repeat("abcdefgh-", 5) + "a" },
			apierr.Malformed, "content_language"},
		"a key in instructions": {func(d *Draft) { d.CustomInstructions = "use " + key }, apierr.SecretInArgument,
			"custom_instructions"},
		"a key in a phrase": {func(d *Draft) { d.Use.Phrases = []string{key} }, apierr.SecretInArgument,
			"use.phrases"},
		"a key in an audience": {func(d *Draft) { d.Audiences = []BrandVoiceAudience{{"a", key}} }, apierr.SecretInArgument,
			"audiences.description"},
		"total length exceeded": {func(d *Draft) { d.Use.Phrases = many(70, strings.Repeat("a", 290)+"%d") },
			apierr.TooLong, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := fullDraft()
			c.change(&d)
			got, err := normalize(d)
			f := apierr.FromError(err)
			if err == nil || f.Code != apierr.ValidationFailed || f.Context["reason"] != c.reason || c.argument != "" &&
				f.Context["argument"] != c.argument {
				t.Fatalf("got %v %v (%+v)", err, f.Context, got)
			}
			if strings.Contains(f.Error(), key) {
				t.Errorf("the error contains a secret: %v", err)
			}
		})
	}
}

func tooManyAudiences() []BrandVoiceAudience {
	out := make([]BrandVoiceAudience, MaxAudiences+1)
	for i := range out {
		out[i].Name = fmt.Sprint("audience ", i)
	}
	return out
}

// The largest draft within the limits is accepted.
func TestNormalizeAcceptsLargest(t *testing.T) {
	t.Parallel()
	d := Draft{Name: strings.Repeat("é", MaxNameLength), Guide: Guide{BusinessDescription: strings.Repeat("a",
		MaxDescriptionLength), Tone: strings.Repeat("a", MaxToneLength),
		CustomInstructions: strings.Repeat("a", MaxInstructionsLength), Audiences: tooManyAudiences()[1:],
		Use: BrandVoiceUse{Words: []string{strings.Repeat("a", MaxWordLength)},
			Phrases: []string{strings.Repeat("a", MaxPhraseLength)}}}}
	if _, err := normalize(d); err != nil {
		t.Error(err)
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"en": "en", "EN-gb": "en-GB", "pt_br": "pt-BR", "zh-hant-tw": "zh-Hant-TW", "iw": "he", "sr-latn": "sr-Latn",
		"de-1996": "de-1996", "es-419": "es-419", "gsw": "gsw", "": "",
	} {
		got, err := normalize(Draft{Name: "n", Guide: Guide{ContentLanguage: given}})
		if err != nil || got.ContentLanguage != want {
			t.Errorf("%q was normalized to %q, %v, want %q", given, got.ContentLanguage, err, want)
		}
	}
}

func TestNormalizeTexts(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]struct{ lines, line string }{
		"a\r\nb\rc\u2028d\u0085e":    {"a\nb\nc\nd\ne", "a b c d e"},
		" a  b \t\n\n\n\n c\u00a0\n": {"a  b\n\n c", "a b c"},
		"a\x00b\x1bc\u202ed":         {"abcd", "abcd"},
		"a\U000e0041\U000e0042":      {"a", "a"},
		"e\u0301":                    {"é", "é"},
		"\ufeff\u2060 \n \u200b":     {"", ""},
		"a \u2060 b":                 {"a  b", "a b"},
		"שלום\u200f!":                {"שלום\u200f!", "שלום\u200f!"},
		"من\u200cخواهم":              {"من\u200cخواهم", "من\u200cخواهم"},
		"\U0001f469\u200d\U0001f373": {"\U0001f469\u200d\U0001f373", "\U0001f469\u200d\U0001f373"},
		"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f": {
			"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
			"\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"},
		"\U0001f3f4\U000e0067\U000e0062": {"\U0001f3f4", "\U0001f3f4"},
	} {
		if got := normalizeLines(given); got != want.lines {
			t.Errorf("%+q was normalized to the lines %+q", given, got)
		}
		if got := normalizeLine(given); got != want.line {
			t.Errorf("%+q was normalized to the line %+q", given, got)
		}
	}
}

// Empty and duplicate list items are dropped. Items that differ in case are kept.
func TestNormalizeLists(t *testing.T) {
	t.Parallel()
	got := must.Get(normalize(Draft{Name: " a  b ", Guide: Guide{ContentLanguage: " de\n",
		Use: BrandVoiceUse{Words: []string{" Roast", "", "roast", "Roast ", "\u200b"}}, Audiences: []BrandVoiceAudience{{},
			{" A", "\n"}}}}))(t)
	want := Draft{Name: "a b", Guide: Guide{ContentLanguage: "de", Audiences: []BrandVoiceAudience{{Name: "A"}},
		Use: BrandVoiceUse{Words: []string{"Roast", "roast"}, Phrases: []string{}}, Avoid: BrandVoiceUse{Words: []string{},
			Phrases: []string{}}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// trickyText generates texts that imitate the block's structure, and ordinary texts.
func trickyText() *rapid.Generator[string] {
	pieces := []string{"\n", "\r\n", "# ", "  ", "- ", "```", "~~~", "---", "{{.Name}}", "{{end}}", "Tone", "# Tone",
		"# Words to avoid", "\u2028", "\t", "\x00", "\u202e", "\u200f", "é", "e\u0301", "שלום", "☕", "\U000e0041",
		"\U0001f3f4", "<b>", "\\n", "a", "roast"}
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20),
		func(parts []string) string { return strings.Join(parts, "") }))
}

// drafts generates drafts, most of them valid.
func drafts() *rapid.Generator[Draft] {
	return rapid.Custom(func(r *rapid.T) Draft {
		text := trickyText()
		list := func(name string) []string { return rapid.SliceOfN(text, 0, 8).Draw(r, name) }
		return Draft{Name: "n" + text.Draw(r, "name"), Guide: Guide{
			BusinessDescription: text.Draw(r, "description"), Tone: text.Draw(r, "tone"),
			CustomInstructions: text.Draw(r, "instructions"),
			PointOfView: rapid.SampledFrom([]PointOfView{"", FirstSingular, FirstPlural, Second, Third}).
				Draw(r, "view"),
			EmojiPolicy: rapid.SampledFrom([]EmojiPolicy{"", NoEmoji, FewEmoji, EmojiAtWill}).Draw(r, "emoji"),
			Audiences: rapid.SliceOfN(rapid.Custom(func(r *rapid.T) BrandVoiceAudience {
				return BrandVoiceAudience{"a" + text.Draw(r, "who"), text.Draw(r, "what")}
			}), 0, 4).Draw(r, "audiences"),
			Use: BrandVoiceUse{list("use words"), list("use phrases")}, Avoid: BrandVoiceUse{list("avoid words"),
				list("avoid phrases")},
			ContentLanguage: rapid.SampledFrom([]string{"", "en", "iw", "pt_br"}).Draw(r, "language"),
		}}
	})
}

// drawNormalized generates a normalized draft.
func drawNormalized(r *rapid.T) Draft {
	given := drafts().Draw(r, "draft")
	d, err := normalize(given)
	if err != nil {
		if !apierr.Is(err, apierr.ValidationFailed) {
			r.Fatalf("rejected by %v", err)
		}
		r.Skip("rejected")
	}
	return d
}

// Normalizing is idempotent and removes all hidden characters.
func TestNormalizeIsIdempotent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := drawNormalized(r)
		again, err := normalize(d)
		if diff := cmp.Diff(d, again); err != nil || diff != "" {
			r.Fatalf("%v\n%s", err, diff)
		}
		raw := asJSON(d)
		if !utf8.ValidString(raw) || strings.ContainsAny(raw, "\u202e\u2028\x00\r") {
			r.Fatalf("%+q", raw)
		}
	})
}
