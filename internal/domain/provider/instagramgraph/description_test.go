package instagramgraph

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network/networktest"
)

var (
	hashtagEdge   = regexp.MustCompile(`/[0-9]+/(top_media|recent_media)$`)
	fieldModifier = regexp.MustCompile(`\.[a-z_]+\([^)]*\)`)
	fieldToken    = regexp.MustCompile(`[a-z_]+|[{}]`)
	cursorParams  = []string{"after"}
)

// describedOnly checks that requests to a handler use only edges, parameters and fields in Meta's description.
func describedOnly(t *testing.T, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		checkDescribed(t, r)
		next.ServeHTTP(w, r)
	})
}

func checkDescribed(t *testing.T, r *http.Request) {
	t.Helper()
	sent := r.URL.Query()
	if edge := hashtagEdge.FindStringSubmatch(r.URL.Path); edge != nil {
		hashtag := networktest.MetaObject("ShadowIGHashtag")
		networktest.WantDescribed(t, r.URL.Path, append(hashtag.Params(r.Method, edge[1]), cursorParams...),
			slices.Collect(maps.Keys(sent)))
		checkFields(t, sent.Get("fields"), "IGMedia")
		return
	}
	if strings.Contains(sent.Get("fields"), "business_discovery") {
		checkFields(t, sent.Get("fields"), "IGUser")
	}
}

// checkFields checks that an object and the objects in it have the fields of an expression.
func checkFields(t *testing.T, expression, object string) {
	t.Helper()
	objects := []string{object}
	inner := map[string]string{"business_discovery": "IGUser", "media": "IGMedia", "children": "IGMedia"}
	name := ""
	for _, token := range fieldToken.FindAllString(fieldModifier.ReplaceAllString(expression, ""), -1) {
		switch token {
		case "{":
			objects = append(objects, inner[name])
		case "}":
			objects = objects[:len(objects)-1]
		default:
			name = token
			of := networktest.MetaObject(objects[len(objects)-1])
			if _, isEdge := of.Calls["GET "+name]; !isEdge {
				networktest.WantDescribed(t, objects[len(objects)-1], of.Names(), []string{name})
			}
		}
	}
}

// The check finds a field and a parameter that are missing from Meta's description.
func TestDescribedOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ expression, object string }{
		{"business_discovery.username(a){id,email}", "IGUser"}, {"id,caption,author", "IGMedia"},
	} {
		var spy testing.T
		checkFields(&spy, c.expression, c.object)
		if !spy.Failed() {
			t.Errorf("%s passes", c.expression)
		}
	}
}
