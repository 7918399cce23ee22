package instagram_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network/networktest"
)

var accountEdge = regexp.MustCompile(`^/instagram/(?:graph|facebook)/v25\.0/[0-9]+/([a-z_]+)$`)

func isDescribed(r networktest.Request) bool { return accountEdge.MatchString(r.URL.Path) }

// checkCall checks that a request and its response match Meta's API description: methods, edges, parameters,
// enumerations and fields.
func checkCall(t *testing.T, r networktest.Request) {
	match := accountEdge.FindStringSubmatch(r.URL.Path)
	if match == nil || r.Status != http.StatusOK {
		return
	}
	account, media := networktest.MetaObject("IGUser"), networktest.MetaObject("IGMedia")
	object := account
	switch match[1] {
	case "insights", "comments":
		object = media
	case "permissions":
		object = networktest.MetaObject("User")
	}
	networktest.WantDescribed(t, r.Line(), append(object.Params(r.Method, match[1]), "after"), slices.Collect(maps.Keys(r.Params())))
	object.CheckValues(t, r.Method, match[1], r.Params())
	if match[1] != "media" && match[1] != "media_publish" && match[1] != "stories" {
		return // their responses are not described
	}
	networktest.WantDescribed(t, r.Line(), media.Names(), strings.Split(r.Params().Get("fields"), ","))
	var answer struct{ Data []map[string]any }
	if _ = json.Unmarshal(r.ResponseBody, &answer); match[1] != "media_publish" {
		for _, post := range answer.Data {
			networktest.WantDescribed(t, "the answer to "+r.Line(), media.Names(), slices.Collect(maps.Keys(post)))
		}
	}
}

// The tests send calls of every described kind.
func TestCallsDescribed(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.MakeEveryCall()
	f.Collect(f.Grant(), networktest.Start, 500)
	for edge, least := range map[string]int{"/media": 10, "/media_publish": 10, "/insights": 1, "/stories": 2} {
		if made := f.Transport.Count(edge); made < least {
			t.Errorf("%d calls of %s", made, edge)
		}
	}
}

// Meta's API description has the fields that are read of accounts and Pages. The person's own account is described
// differently.
func TestReadFieldsDescribed(t *testing.T) {
	t.Parallel()
	networktest.WantDescribed(t, "an account", networktest.MetaObject("IGUser").Names(), []string{"id", "username", "name"})
	networktest.WantDescribed(t, "a Page", networktest.MetaObject("Page").Names(),
		[]string{"id", "access_token", "instagram_business_account"})
}
