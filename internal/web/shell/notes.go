package shell

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/locale"
)

// Notes translates the English notes of operations. Unlike TranslateNotes, it also translates notes with values.
type Notes struct {
	formats  []locale.Key
	patterns func() []*regexp.Regexp
}

// NewNotes returns a translator for notes with the given formats, which use the verb %s for each value.
func NewNotes(formats ...locale.Key) *Notes {
	return &Notes{formats, sync.OnceValue(func() []*regexp.Regexp {
		out := make([]*regexp.Regexp, len(formats))
		for i, format := range formats {
			out[i] = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(string(format)), "%s", "(.+)") + "$")
		}
		return out
	})}
}

// Translate translates notes. Notes without a translation stay in English.
func (n *Notes) Translate(l *locale.Language, notes []string) []string {
	out := TranslateNotes(l, notes)
	if l == locale.English {
		return out
	}
	for i, note := range notes {
		for f, pattern := range n.patterns() {
			match := pattern.FindStringSubmatch(note)
			if match == nil {
				continue
			}
			values := make([]any, len(match)-1)
			for v, value := range match[1:] {
				values[v] = translateNoteValue(l, value)
			}
			out[i] = l.T(n.formats[f], values...)
			break
		}
	}
	return out
}

// translateNoteValue translates a value of a note: a number, a number of posts, a date, a list, a network or a
// sentence.
func translateNoteValue(l *locale.Language, value string) any {
	first, rest, _ := strings.Cut(value, " ")
	if n, err := strconv.Atoi(first); err == nil {
		if rest == "" {
			return n
		}
		return l.N(n, "%d post", "%d posts")
	}
	for _, layout := range []locale.Layout{locale.DateTime, locale.Date} {
		if at, err := time.Parse(string(layout), value); err == nil {
			return l.Format(at, layout)
		}
	}
	if l.Has(locale.Key(value)) {
		return l.T(locale.Key(value))
	}
	parts := strings.Split(value, " and ")
	for i, part := range parts {
		if strings.Contains(part, " ") {
			return value
		}
		parts[i] = TranslateText(l, NetworkName(part))
	}
	return l.And(parts)
}
