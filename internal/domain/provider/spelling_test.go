package provider

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

// spellings returns other spellings of a text: canonical and compatible equivalents, spellings with surrounding signs
// and spaces, with invisible characters, in full width, and with other letters of the same word.
func spellings(text string) map[string]string {
	bare := strings.TrimLeftFunc(text, func(r rune) bool { return r == '#' || isSpaceOrInvisible(r) })
	return map[string]string{
		"NFC": norm.NFC.String(text), "NFD": norm.NFD.String(text), "NFKC": norm.NFKC.String(text),
		"NFKD": norm.NFKD.String(text),
		"sign": "#" + bare, "signs": "##" + bare, "wide sign": "＃" + bare, "small sign": "﹟" + bare,
		"spaces":        " \u3000" + text + "\t\n",
		"mark in front": "\u200f" + text, "mark after the sign": "#\u200f" + bare, "isolated": "\u2068#" + bare +
			"\u2069", "joiner": "#\u200d" + bare,
		"wide": fullWidth(text), "capitals": upperCase(text),
	}
}

// fullWidth converts ASCII letters and digits to full width.
func fullWidth(text string) string {
	return strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r - '!' + '！'
		}
		return r
	}, text)
}

// upperCase converts letters with a one-to-one uppercase mapping.
func upperCase(text string) string {
	return strings.Map(func(r rune) rune {
		if upper := unicode.ToUpper(r); r != 'σ' && unicode.ToLower(upper) == r &&
			NormalizeText(string(upper)) == NormalizeText(string(r)) {
			return upper
		}
		return r
	}, text)
}

// fails is common to tests and properties.
type fails interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkSpellings fails the test if a spelling of a hashtag is parsed as a different hashtag. It reports whether the
// text is a hashtag.
func checkSpellings(t fails, text string) bool {
	t.Helper()
	want, err := ParseHashtag(text)
	for name, form := range spellings(text) {
		if got, other := ParseHashtag(form); got != want || (err == nil) != (other == nil) {
			t.Errorf("%+q is %+q (%v); as %s, %+q, it is %+q (%v)", text, want, err, name, form, got, other)
		}
	}
	if err == nil {
		if again, err := ParseHashtag(want); again != want || err != nil {
			t.Errorf("%+q is %+q, and that is %+q (%v)", text, want, again, err)
		}
	}
	return err == nil
}

func TestSpellingsOfOneHashtag(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom(nil, unicode.L, unicode.M, unicode.Nd, unicode.Pc)).Draw(t, "text")
		checkSpellings(t, text)
	})
}

// Unicode's test data for grapheme and word boundaries has many difficult sequences. Each sequence is tested in every
// spelling, alone and within a word.
func TestUnicodeSegmentationTexts(t *testing.T) {
	t.Parallel()
	named := 0
	for _, file := range []string{"graphemebreak_test.go", "wordbreak_test.go"} {
		texts := originals(t, filepath.Join(moduleDir(t, "github.com/rivo/uniseg"), file))
		if len(texts) < 500 {
			t.Fatalf("%s has %d texts", file, len(texts))
		}
		for _, text := range texts {
			for _, form := range []string{text, "a" + text, "a" + text + "b", "旅" + text} {
				if checkSpellings(t, form) {
					named++
				}
			}
		}
	}
	if named < 500 {
		t.Errorf("%d of the texts name a hashtag", named)
	}
}

// Each character with a decomposition in Unicode's data is the same hashtag as its decomposition. The data is from the
// library's test table, which is independent of the tables used by NormalizeText.
func TestUnicodeDecompositions(t *testing.T) {
	t.Parallel()
	named, all := 0, 0
	for r, forms := range decompositions(t) {
		all++
		for _, form := range forms {
			one, err := ParseHashtag("a" + string(r))
			other, otherErr := ParseHashtag("a" + form)
			if one != other || (err == nil) != (otherErr == nil) {
				t.Errorf("%U is %+q (%v), its decomposition %+q is %+q (%v)", r, one, err, form, other, otherErr)
			}
		}
		if checkSpellings(t, "a"+string(r)) {
			named++
		}
	}
	if all < 3000 || named < 2000 {
		t.Errorf("%d characters with a decomposition, %d of them in hashtags", all, named)
	}
}

// moduleDir returns the source folder of a module.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		t.Fatalf("looking for the source of %s: %v", module, err)
	}
	return dir
}

func parseFile(t *testing.T, file string) *ast.File {
	t.Helper()
	out := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
	return out
}

// originals returns the texts of a table of test cases.
func originals(t *testing.T, file string) []string {
	t.Helper()
	var out []string
	ast.Inspect(parseFile(t, file), func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "original" {
			out = append(out, unquote(t, pair.Value))
		}
		return true
	})
	return out
}

// decompositions returns the characters of the table with their canonical and compatible decompositions.
func decompositions(t *testing.T) map[rune][]string {
	t.Helper()
	out := map[rune][]string{}
	ast.Inspect(parseFile(t, filepath.Join(moduleDir(t, "golang.org/x/text"), "unicode", "norm",
		"data"+norm.Version+"_test.go")), func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || len(row.Elts) != 5 {
			return true
		}
		number, isNumber := row.Elts[0].(*ast.BasicLit)
		forms, isCall := row.Elts[4].(*ast.CallExpr)
		if !isNumber || !isCall {
			return true
		}
		r := must.Get(strconv.ParseInt(number.Value, 0, 32))(t)
		for _, arg := range forms.Args {
			if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value != `""` {
				out[rune(r)] = append(out[rune(r)], unquote(t, lit))
			}
		}
		return true
	})
	return out
}

func unquote(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%T is not a string literal", e)
	}
	text := must.Get(strconv.Unquote(lit.Value))(t)
	return text
}
