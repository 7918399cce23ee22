package web_test

import (
	"encoding/json"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/testkit/must"
)

var (
	translated = regexp.MustCompile(`translate\('((?:[^'\\]|\\.)*)'|translateCount\([^,]+, '(?:[^'\\]|\\.)*', '((?:[^'\\]|\\.)*)'`)
	quoted     = regexp.MustCompile("'((?:[^'\\\\\\n]|\\\\.)*)'|`([^`]*)`")
	spoken     = regexp.MustCompile(`^\p{Lu}\p{Ll}+ \pL|\pL \pL.*[.!?…]$|^\p{Lu}\p{Ll}+[.…]$`)
	comment    = regexp.MustCompile(`(?m)^\s*//.*$|\s// .*$`)
)

// Every text of a script has a German translation, and every translation is used.
func TestScriptsTranslated(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, path := range must.Get(filepath.Glob("shell/assets/*.js"))(t) {
		source := comment.ReplaceAllString(string(must.Get(os.ReadFile(path))(t)), "")
		for _, found := range translated.FindAllStringSubmatch(source, -1) {
			text := strings.ReplaceAll(found[1]+found[2], `\'`, `'`)
			if used[text] = true; !locale.German.HasScriptText(text) {
				t.Errorf("%s: %q has no German translation", path, text)
			}
		}
		for _, found := range quoted.FindAllStringSubmatch(translated.ReplaceAllString(source, ""), -1) {
			if text := found[1] + found[2]; spoken.MatchString(text) && text != "use strict" {
				t.Errorf("%s: %q is not translated", path, text)
			}
		}
	}
	var all map[string]json.RawMessage
	must.NoError(t, json.Unmarshal(locale.German.ScriptTextsJSON(), &all))
	for text := range all {
		if !used[text] {
			t.Errorf("the German translation of the script text %q is not used", text)
		}
	}
}

// foreign matches an element in a language other than the page's, such as the name of a language.
var foreign = regexp.MustCompile(`(<[^<>]*\slang="[^"]*"[^<>]*>)[^<>]*`)

// englishIn returns the English texts of the catalog on a page that should be in German.
func englishIn(page string) []string {
	if at := strings.Index(page, "<body"); at >= 0 {
		page = page[at:]
	}
	page = foreign.ReplaceAllString(page, "$1")
	shown := map[string]bool{}
	for _, found := range readAloud.FindAllStringSubmatch(page, -1) {
		shown[html.UnescapeString(found[1])] = true
	}
	for text := range strings.SplitSeq(tag.ReplaceAllString(page, "\x00"), "\x00") {
		shown[strings.TrimSpace(html.UnescapeString(text))] = true
	}
	var out []string
	for _, key := range locale.German.Catalog() {
		plain := string(key)
		if at := strings.LastIndexByte(plain, '|'); at >= 0 {
			plain = plain[:at]
		}
		if locale.German.T(key) == plain {
			continue
		}
		for text := range shown {
			if text == plain || len(plain) > 20 && !strings.Contains(plain, "%") && strings.Contains(text, plain) {
				out = append(out, plain)
			}
		}
	}
	slices.Sort(out)
	return out
}

// eachTemplate calls do with the path of each template of the app.
func eachTemplate(t *testing.T, do func(path string)) {
	t.Helper()
	must.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".html") {
			do(path)
		}
		return err
	}))
}
