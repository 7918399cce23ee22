// Package locale translates the texts of the app and formats dates, numbers and lists in a person's language. The
// English text is the key of its translations, so that code and templates stay readable. Each language has a folder of
// translations, with one file per area of the app.
package locale

import (
	"fmt"
	"html/template"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// Key is an English text that people read. It may contain two verbs of package fmt: %s, and %d for numbers, which are
// formatted in the language. A suffix after the last "|" is not shown. It distinguishes equal English texts that have
// different translations, as in "Post|verb".
type Key string

// Language is a language of the app.
type Language struct {
	Tag  string // BCP 47
	Name string // name of the language in that language

	parsedTag   language.Tag
	texts       map[Key]translation // nil for English
	scripts     map[string]translation
	conventions format
}

// translation is a text with its plural forms. If a text contains no number, only Other is set.
type translation struct {
	One   string `json:"one,omitempty"`
	Other string `json:"other"`
}

// The languages.
var (
	English  = &Language{Tag: "en", Name: "English (international)", parsedTag: language.English, conventions: englishFormat}
	American = &Language{Tag: "en-US", Name: "English (United States)", parsedTag: language.AmericanEnglish,
		conventions: americanFormat}
	German = load(&Language{Tag: "de", Name: "Deutsch", parsedTag: language.German, conventions: germanFormat})
)

// All returns the languages that people can choose, starting with the default language.
func All() []*Language { return []*Language{English, American, German} }

// IsEnglish reports whether the texts are English. Dates may differ from those of [English].
func (l *Language) IsEnglish() bool { return l.texts == nil }

// ByTag returns the language with the given BCP 47 tag, or nil if there is none.
func ByTag(tag string) *Language {
	for _, l := range All() {
		if l.Tag == tag {
			return l
		}
	}
	return nil
}

var matcher = language.NewMatcher([]language.Tag{English.parsedTag, American.parsedTag, German.parsedTag}) // in the order of All

// Match returns the best language for an Accept-Language header field (RFC 9110, section 12.5.4), or English.
func Match(header string) *Language {
	if header == "" {
		return English
	}
	wanted, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return English
	}
	_, i, _ := matcher.Match(wanted...)
	return All()[i]
}

// T returns a text in the language. Numbers among the arguments are formatted in that language.
func (l *Language) T(key Key, args ...any) string {
	return l.sprintf(l.find(key).Other, args)
}

// N returns a text that depends on the number n: the text one for 1, and the text many for other numbers. In both
// texts, n is the first argument, and args follow. The key of the translation is many.
func (l *Language) N(n any, one, many Key, args ...any) string {
	tr := translation{One: string(one), Other: string(many)}
	if text, ok := l.texts[many]; ok {
		tr = text
	}
	format := tr.Other
	if l.isOne(n) {
		format = tr.One
	}
	return l.sprintf(trimContext(format), append([]any{n}, args...))
}

// H is like T, but for a text with markup. Arguments are escaped unless they are HTML.
func (l *Language) H(key Key, args ...any) template.HTML {
	return template.HTML(l.T(key, escapeArgs(args)...)) //nolint:gosec // keys are constants, and the arguments are escaped
}

// NH is like N, but for a text with markup. Arguments are escaped unless they are HTML.
func (l *Language) NH(n any, one, many Key, args ...any) template.HTML {
	return template.HTML(l.N(n, one, many, escapeArgs(args)...)) //nolint:gosec // as in H
}

// Has reports whether a text has a translation. For English, it always returns true.
func (l *Language) Has(key Key) bool {
	_, ok := l.texts[key]
	return ok || l.texts == nil
}

// HasScriptText reports whether a script's text has a translation. Such texts are translated in the browser.
func (l *Language) HasScriptText(text string) bool {
	_, ok := l.scripts[text]
	return ok
}

func (l *Language) find(key Key) translation {
	if text, ok := l.texts[key]; ok {
		return text
	}
	return translation{Other: trimContext(string(key))}
}

// trimContext returns a text without the suffix that distinguishes equal texts.
func trimContext(text string) string {
	if at := strings.LastIndexByte(text, '|'); at >= 0 {
		return text[:at]
	}
	return text
}

// isOne reports whether the language uses the singular for n.
func (l *Language) isOne(n any) bool {
	count, ok := roundToInt64(n)
	if !ok || count < 0 {
		return false
	}
	return plural.Cardinal.MatchPlural(l.parsedTag, int(count%10_000_000), 0, 0, 0, 0) == plural.One
}

// sprintf formats a text in the language. Texts without arguments may contain percent signs.
func (l *Language) sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	formatted := make([]any, len(args))
	for i, arg := range args {
		formatted[i] = arg
		if _, ok := roundToInt64(arg); ok || isNumber(arg) {
			formatted[i] = l.Count(arg)
		} else if key, ok := arg.(Key); ok {
			formatted[i] = l.T(key)
		} else if instant, ok := arg.(Instant); ok {
			formatted[i] = l.Format(instant.Time, instant.Layout)
		}
	}
	return fmt.Sprintf(strings.ReplaceAll(indexedNumberVerb.ReplaceAllString(format, "%${1}s"), "%d", "%s"), formatted...)
}

func escapeArgs(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case template.HTML:
			out[i] = string(v)
		case string:
			out[i] = template.HTMLEscapeString(v)
		default:
			if _, ok := roundToInt64(arg); ok || isNumber(arg) {
				out[i] = arg
			} else if key, ok := arg.(Key); ok {
				out[i] = key
			} else if instant, ok := arg.(Instant); ok {
				out[i] = instant
			} else {
				out[i] = template.HTMLEscapeString(fmt.Sprint(arg))
			}
		}
	}
	return out
}
