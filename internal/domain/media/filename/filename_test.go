package filename

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

var types = slices.Sorted(maps.Keys(extensions))

func TestNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ given, mimeType, name, fileName string }{
		{"Roastery.JPG", "image/jpeg", "Roastery", "Roastery.jpg"},
		{"Roastery.jpeg", "image/jpeg", "Roastery", "Roastery.jpeg"},
		{"Roastery.jpeg", "image/png", "Roastery", "Roastery.png"},
		{"a film", "video/quicktime", "a film", "a film.mov"},
		{"archive.tar.mp4", "video/mp4", "archive.tar", "archive.tar.mp4"},
		{`C:\Users\Ada\beach.png`, "image/png", "beach", "beach.png"},
		{"../../etc/passwd", "image/gif", "passwd", "passwd.gif"},
		{"/", "image/gif", "file", "file.gif"},
		{"", "image/webp", "file", "file.webp"},
		{"...", "image/webp", "file", "file.webp"},
		{".png", "image/png", "png", "png.png"},
		{".hidden.png", "image/png", "hidden", "hidden.png"},
		{"a:b*c?.png", "image/png", "a_b_c_", "a_b_c_.png"},
		{" two \t\n words .png", "image/png", "two words", "two words.png"},
		{"nul\x00 bell\a.png", "image/png", "nul bell", "nul bell.png"},
		{"invoice\u202egnp.exe", "image/png", "invoicegnp", "invoicegnp.png"},
		{"\xff\xfe.png", "image/png", "file", "file.png"},
		{"Cafe\u0301.png", "image/png", "Caf\u00e9", "Caf\u00e9.png"},
		{"Cafe\x00\u0301.png", "image/png", "Caf\u00e9", "Caf\u00e9.png"},
		{"写真.png", "image/png", "写真", "写真.png"},
		{strings.Repeat("é", 300), "image/png", strings.Repeat("é", 255), strings.Repeat("é", 255) + ".png"},
	} {
		name, fileName := ForType(Stem(c.given), Extension(c.given), c.mimeType)
		if name != c.name || fileName != c.fileName {
			t.Errorf("%q: %q, %q", c.given, name, fileName)
		}
	}
}

// randomName returns a generator of file names.
func randomName() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]rune("aAéßİ.. /\\:*?\"<>|\u0301\u0345\u00a0\u2028\u202e\u2066\x00\a\x7f\u0085\ufffdx"))
	return rapid.OneOf(rapid.String(), rapid.StringOfN(odd, 0, 20, -1),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(p []byte) string { return string(p) }),
		rapid.Map(rapid.IntRange(195, 210), func(n int) string { return strings.Repeat("n ", n/2) + ".. ." }))
}

func TestAnyName(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkName(t, randomName().Draw(t, "name"), rapid.SampledFrom(types).Draw(t, "type")) })
}

func FuzzNames(f *testing.F) {
	f.Add("Cafe\x00\u0301.png")
	f.Add(strings.Repeat("n ", 100) + ". .")
	f.Fuzz(func(t *testing.T, name string) { checkName(t, name, types[len(name)%len(types)]) })
}

func checkName(t rapid.TB, sent, mimeType string) {
	t.Helper()
	name, fileName := ForType(Stem(sent), Extension(sent), mimeType)
	ext := Extension(fileName)
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxLength:
		t.Fatalf("%q yields a name of %d characters", sent, utf8.RuneCountInString(name))
	case !utf8.ValidString(name) || strings.ContainsAny(name, reservedChars) || strings.ContainsFunc(name, wild):
		t.Fatalf("%q yields %q", sent, name)
	case name != strings.Trim(name, " .") || !norm.NFC.IsNormalString(name):
		t.Fatalf("%q yields the invalid name %+q", sent, name)
	case fileName != name+ext || !slices.Contains(extensions[mimeType], ext):
		t.Fatalf("%q of type %s yields %q", sent, mimeType, fileName)
	case Stem(fileName) != name:
		t.Fatalf("%q yields %+q, which yields %+q", sent, name, Stem(fileName))
	case Fold(Fold(sent)) != Fold(sent):
		t.Fatalf("%+q folds to %+q, and that to %+q", sent, Fold(sent), Fold(Fold(sent)))
	case !strings.Contains(Fold(name+"\n"+fileName), Fold(name)):
		t.Fatalf("%+q does not match its own name", name)
	}
}

func wild(r rune) bool {
	return r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) || unicode.IsSpace(r) && r != ' '
}
