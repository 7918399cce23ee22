package clientgen

import (
	"strings"
	"unicode"
)

var initialisms = map[string]string{
	"id": "ID", "ids": "IDs", "url": "URL", "mime": "MIME", "sha256": "SHA256", "api": "API", "utc": "UTC",
	"webp": "WebP",
}

// goName returns a name of the document as an exported Go name: account_ids becomes AccountIDs.
func goName(name string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if known, ok := initialisms[word]; ok {
			out.WriteString(known)
			continue
		}
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// lowerCamel returns an operation's name as a TypeScript method name.
func lowerCamel(name string) string {
	first, rest, several := strings.Cut(name, "_")
	if !several {
		return first
	}
	for word := range strings.SplitSeq(rest, "_") {
		first += strings.ToUpper(word[:1]) + word[1:]
	}
	return first
}

// singular returns the singular of a list's name.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "media"), strings.HasSuffix(name, "ss"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}

// wrap returns a text as comment lines, each with the prefix.
func wrap(prefix, text string) string {
	const width = 118
	var out strings.Builder
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(prefix)+len(line)+1+len(word) > width {
			out.WriteString(prefix + line + "\n")
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return out.String() + prefix + line + "\n"
}
