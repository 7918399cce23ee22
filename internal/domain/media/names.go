package media

import (
	"cmp"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// extensions are those that files of a type go by; the first is given to files that have none of them.
var extensions = map[string][]string{
	"image/jpeg": {".jpg", ".jpeg", ".jpe", ".jfif"}, "image/png": {".png"}, "image/webp": {".webp"},
	"image/gif": {".gif"},
	"video/mp4": {".mp4", ".m4v"}, "video/quicktime": {".mov", ".qt"},
}

const (
	maxFileName  = 255    // characters, as many as a description may have
	unnamed      = "file" // where nothing of a name is left
	otherLetters = "\\/:*?\"<>|"
)

// stem is the part of a file's name before its extension: the last segment of a path, without what no file system
// and no header takes.
func stem(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if ext := path.Ext(name); ext != "" && ext != name {
		name = strings.TrimSuffix(name, ext)
	}
	name = norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && !joins(r):
			return -1
		case strings.ContainsRune(otherLetters, r):
			return '_'
		}
		return r
	}, name))
	runes := []rune(strings.Trim(strings.Join(strings.Fields(name), " "), ". "))
	return strings.TrimRight(string(runes[:min(len(runes), maxFileName)]), ". ")
}

// joins tells whether an invisible character is part of how words and emoji are written.
func joins(r rune) bool { return r == '\u200c' || r == '\u200d' }

// tidy is a file's name as a page can show it, its extension with it.
func tidy(name string) string {
	if ext := stem(extension(name)); ext != "" {
		return stem(name) + "." + ext
	}
	return stem(name)
}

// called names a file of a type: what it is called, and the name of the file, whose extension says the type.
func called(name, ext, mimeType string) (string, string) {
	if name == "" {
		name = unnamed
	}
	ext = strings.ToLower(ext)
	if !slices.Contains(extensions[mimeType], ext) {
		ext = extensions[mimeType][0]
	}
	return name, name + ext
}

// fold makes texts comparable whatever their case and composition. In small letters first: cases.Fold alone swaps the
// two cases of Cherokee.
func fold(text string) string {
	return norm.NFC.String(cases.Fold().String(strings.ToLower(norm.NFC.String(text))))
}

// essence is the type of a Content-Type without its parameters, in small letters; empty where it cannot be read.
func essence(contentType string) string {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	return cmp.Or(aliases[mediaType], mediaType)
}

// aliases are names that are no registered ones but in use.
var aliases = map[string]string{
	"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "image/x-png": "image/png", "video/x-m4v": "video/mp4",
	"video/mov": "video/quicktime",
}

// extension is that of a file's name, with its dot.
func extension(name string) string { return path.Ext(name) }

// storable is a text without what a database does not take.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}
