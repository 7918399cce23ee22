package web_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// verb is a verb of a text with the index of its argument.
var verb = regexp.MustCompile(`%(\[\d+\])?([a-zA-Z])`)

// verbs returns the arguments that a text shows, by index.
func verbs(t *testing.T, text string) []string {
	t.Helper()
	var out []string
	next := 1
	for _, found := range verb.FindAllStringSubmatch(text, -1) {
		if found[1] != "" {
			next, _ = strconv.Atoi(strings.Trim(found[1], "[]"))
		}
		if found[2] != "s" && found[2] != "d" {
			t.Errorf("%q: texts may only have the verbs %%s and %%d", text)
		}
		out = append(out, strconv.Itoa(next)+found[2])
		next++
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var markup = regexp.MustCompile(`<[^<>]*>`)

// Translations show the same values and have the same markup as the English texts.
func TestTranslationsMatch(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, file := range must.Get(filepath.Glob("../locale/de/*.json"))(t) {
		var entries map[string]json.RawMessage
		must.NoError(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &entries))
		for key, raw := range entries {
			kind := "page"
			if strings.HasSuffix(file, ".scripts.json") {
				kind = "script"
			}
			if before, ok := seen[kind+key]; ok && before != string(raw) {
				t.Errorf("%q has two translations: %s and %s", key, before, raw)
			}
			seen[kind+key] = string(raw)
			var text string
			forms := map[string]string{}
			if json.Unmarshal(raw, &text) == nil {
				forms["other"] = text
			} else {
				must.NoError(t, json.Unmarshal(raw, &forms))
			}
			for form, text := range forms {
				checkForm(t, file, key, form, text)
			}
		}
	}
}

// checkForm reports a form of a translation that shows other values or has other markup than the English text.
func checkForm(t *testing.T, file, key, form, text string) {
	t.Helper()
	want, tags := verbs(t, key), markup.FindAllString(key, -1)
	got, has := verbs(t, text), markup.FindAllString(text, -1)
	slices.Sort(tags)
	slices.Sort(has)
	missing := form == "one" && len(want) > 0 && slices.Equal(got, want[1:]) // "one post"
	if !slices.Equal(got, want) && !missing {
		t.Errorf("%s: %q shows the values %v, but %q shows %v", file, key, want, text, got)
	}
	if !slices.Equal(tags, has) {
		t.Errorf("%s: %q has the markup %v, but %q has %v", file, key, tags, text, has)
	}
	if text == "" {
		t.Errorf("%s: %q has an empty translation", file, key)
	}
}
