package shell

import (
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
)

// Language returns the language for a request: the visitor's setting or, if there is none, the best match for
// Accept-Language.
func (s *Shell) Language(r *http.Request) *locale.Language {
	if v := VisitorOf(r.Context()); v != nil {
		if l := locale.ByTag(v.Language); l != nil {
			return l
		}
	}
	return locale.Match(r.Header.Get("Accept-Language"))
}

// T returns a text in the visitor's language.
func (s *Shell) T(r *http.Request, text locale.Key, args ...any) string {
	return s.Language(r).T(text, args...)
}

// TranslateNotes translates an operation's notes. Notes without a translation stay in English.
func TranslateNotes(l *locale.Language, notes []string) []string {
	out := make([]string, len(notes))
	for i, note := range notes {
		out[i] = TranslateText(l, note)
	}
	return out
}

// TranslateText translates a text from an operation. A text without a translation stays in English.
func TranslateText(l *locale.Language, text string) string {
	if l.IsEnglish() || !l.Has(locale.Key(text)) {
		return text
	}
	return l.T(locale.Key(text))
}

// Detail returns the text of an error in the visitor's language, or in English if it has no translation.
func (s *Shell) Detail(r *http.Request, err error) string { return Detail(s.Language(r), err) }

// Detail returns the text of an error in a language, or in English if it has no translation.
func Detail(l *locale.Language, err error) string {
	e := apierr.FromError(err)
	switch {
	case l == locale.English: // return e.Detail, even though its numbers are not formatted as on pages
	case e.Format != "" && l.Has(locale.Key(e.Format)):
		return l.T(locale.Key(e.Format), e.Args...)
	case !l.IsEnglish() && l.Has(locale.Key(e.Detail)):
		return l.T(locale.Key(e.Detail))
	}
	return e.Detail
}
