package instagram

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox/world"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Meta's description of the API contains all fields of business discovery.
func TestDiscoveryFieldsAreDescribed(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile(filepath.Join("..", "..", "network", "networktest", "descriptions", "meta.json")))(t)
	var objects map[string]struct {
		Fields []string
		Calls  map[string]any
	}
	must.NoError(t, json.Unmarshal(text, &objects))
	described := func(name string) []string {
		names := append([]string{"media"}, objects[name].Fields...) // media is a field only in business discovery
		for call := range objects[name].Calls {
			if edge, isGet := strings.CutPrefix(call, http.MethodGet+" "); isGet {
				names = append(names, edge)
			}
		}
		return names
	}
	d := discovery{profile: world.Profile{Platform: "instagram", Name: "harbour.bread"},
		day: world.DayOf(time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))}
	check := func(object string, names ...string) {
		fields := described(object)
		for _, name := range names {
			if !slices.Contains(fields, name) {
				t.Errorf("%s: %s is not described", object, name)
			}
		}
	}
	check("IGUser", append(slices.Collect(maps.Keys(d.fields())), "business_discovery", "recently_searched_hashtags")...)
	check("IGMedia", slices.Collect(maps.Keys(d.postView(d.profile.Posts(d.day)[0])))...)
	check("ShadowIGHashtag", "id", "name", "top_media", "recent_media")
}

func TestParseFields(t *testing.T) {
	t.Parallel()
	got, ok := parseFields("id,a.b(1).c(){d{e},f}")
	want := []field{
		{name: "id", args: map[string]string{}},
		{name: "a", args: map[string]string{"b": "1", "c": ""}, fields: []field{
			{name: "d", args: map[string]string{}, fields: []field{{name: "e", args: map[string]string{}}}},
			{name: "f", args: map[string]string{}},
		}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(field{})); diff != "" || !ok {
		t.Error(diff)
	}
	for _, invalid := range []string{
		"", ",", "a,", "a b", "a{", "a{}", "a}", "a.b", "a.(1)", "a.b(1", "a.b((1))", "A", "a{b}c",
		strings.Repeat("a{", 9) + "a" + strings.Repeat("}", 9), strings.Repeat("a,", 4000) + "a",
	} {
		if fields, ok := parseFields(invalid); ok {
			t.Errorf("parseFields(%.20q) = %v, want an error", invalid, fields)
		}
	}
}

func FuzzParseFields(f *testing.F) {
	f.Add("id,business_discovery.username(a){media.limit(3).after(x){id}}")
	f.Fuzz(func(t *testing.T, text string) {
		fields, ok := parseFields(text)
		if ok && (len(fields) == 0 || fields[0].name == "") {
			t.Errorf("parseFields(%q) returned no fields", text)
		}
	})
}
