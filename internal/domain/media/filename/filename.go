// Package filename cleans the names of uploaded files.
package filename

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// extensions maps each MIME type to its file extensions. The first one is the default.
var extensions = map[string][]string{
	"image/jpeg": {".jpg", ".jpeg", ".jpe", ".jfif"}, "image/png": {".png"}, "image/webp": {".webp"},
	"image/gif": {".gif"},
	"video/mp4": {".mp4", ".m4v"}, "video/quicktime": {".mov", ".qt"},
}

const (
	maxLength     = 255           // characters
	defaultName   = "file"        // if the name becomes empty
	reservedChars = "\\/:*?\"<>|" // replaced with "_"
)

// Stem returns the base name of a file without its extension. It removes control characters and invisible characters,
// replaces characters that are reserved in file names with "_", and limits the length.
func Stem(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if ext := path.Ext(name); ext != "" && ext != name {
		name = strings.TrimSuffix(name, ext)
	}
	name = norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && !isJoiner(r):
			return -1
		case strings.ContainsRune(reservedChars, r):
			return '_'
		}
		return r
	}, name))
	runes := []rune(strings.Trim(strings.Join(strings.Fields(name), " "), ". "))
	return strings.TrimRight(string(runes[:min(len(runes), maxLength)]), ". ")
}

// isJoiner reports whether r is ZWNJ or ZWJ, invisible characters that some scripts and emoji need.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// Display returns a file name, including its extension, with unsafe characters removed or replaced.
func Display(name string) string {
	if ext := Stem(Extension(name)); ext != "" {
		return Stem(name) + "." + ext
	}
	return Stem(name)
}

// ForType returns the names of an item and of its file. The item name is name, or "file" if name is empty. The file
// name also has the extension ext or, if ext does not match mimeType, the default extension of mimeType. extensions
// must contain mimeType.
func ForType(name, ext, mimeType string) (string, string) {
	if name == "" {
		name = defaultName
	}
	ext = strings.ToLower(ext)
	if !slices.Contains(extensions[mimeType], ext) {
		ext = extensions[mimeType][0]
	}
	return name, name + ext
}

// Fold normalizes a text so that comparisons ignore case and Unicode composition. It converts the text to lower case
// first, because cases.Fold swaps upper and lower case in Cherokee.
func Fold(text string) string {
	return norm.NFC.String(cases.Fold().String(strings.ToLower(norm.NFC.String(text))))
}

// Extension returns a file name's extension with its dot, or "" if it has none.
func Extension(name string) string { return path.Ext(name) }
