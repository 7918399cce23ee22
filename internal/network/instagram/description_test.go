package instagram_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/network/networktest"
)

var accountEdge = regexp.MustCompile(`^/instagram/(?:graph|facebook)/v25\.0/[0-9]+/([a-z_]+)$`)

// Requests match the network's description: methods, edges and parameters, and the requested and returned fields.
func TestRequestsAreDescribed(t *testing.T) {
	t.Parallel()
	account, media := networktest.ObjectOf(t, "IGUser"), networktest.ObjectOf(t, "IGMedia")
	f := networktest.New(t, adapter, 0)
	f.MakeEveryCall()
	f.Collect(f.Grant(), networktest.Start, 500)
	seen := map[string]int{}
	for _, r := range f.Wire.Requests("") {
		match := accountEdge.FindStringSubmatch(r.URL.Path)
		if match == nil {
			continue
		}
		seen[match[1]]++
		params := append(account.Params(r.Method, match[1]), "after", "appsecret_proof") // any call may have the proof
		if match[1] == "insights" {
			params = []string{"metric", "access_token", "appsecret_proof"}
		}
		networktest.WantDescribed(t, r.Line(), params, slices.Collect(maps.Keys(r.Params())))
		networktest.WantDescribed(t, r.Line(), media.Names(), strings.Split(r.Params().Get("fields"), ","))
		var answer struct{ Data []map[string]any }
		if _ = json.Unmarshal(r.Answer, &answer); match[1] == "media" {
			for _, post := range answer.Data {
				networktest.WantDescribed(t, "the answer to "+r.Line(), media.Names(), slices.Collect(maps.Keys(post)))
			}
		}
	}
	if seen["media"] < 10 || seen["media_publish"] < 10 || seen["insights"] == 0 {
		t.Errorf("seen %v", seen)
	}
	if media.Params(http.MethodGet, "insights") == nil {
		t.Error("the description has no insights of posts")
	}
}

// Accounts and Pages have the fields that are read. The person's own account is described differently.
func TestReadFieldsAreDescribed(t *testing.T) {
	t.Parallel()
	networktest.WantDescribed(t, "an account", networktest.ObjectOf(t, "IGUser").Names(),
		[]string{"id", "username", "name"})
	networktest.WantDescribed(t, "a Page", networktest.ObjectOf(t, "Page").Names(),
		[]string{"id", "access_token", "instagram_business_account"})
}
