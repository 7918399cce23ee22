package openapi

import (
	"strings"
	"unicode"
)

var initialisms = map[string]string{
	"id": "ID", "ids": "IDs", "url": "URL", "mime": "MIME", "sha256": "SHA256", "api": "API", "utc": "UTC",
	"webp": "WebP",
}

// GoName converts a name in the document to an exported Go name: account_ids becomes AccountIDs.
func GoName(name string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if initialism, ok := initialisms[word]; ok {
			out.WriteString(initialism)
			continue
		}
		out.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return out.String()
}

// Singular returns the singular form of a list's name.
func Singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "media"), strings.HasSuffix(name, "ss"):
		return name
	}
	return strings.TrimSuffix(name, "s")
}
