package instagram_test

import (
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/instagram"
	"pressroom.example/pressroom/internal/network/networktest"
)

// Calls with Facebook Login have an appsecret_proof. Calls with Instagram Login do not.
func TestProof(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{"facebook": true, "instagram": false} {
		f := networktest.New(t, adapter, 0)
		g := f.Connect(kind, "mira.keller")
		f.Publish(g, f.PrepareUsual(g, "proven"))
		f.Collect(g, networktest.Start, 10)
		for _, r := range f.Transport.Requests("") {
			params := r.Params()
			if params.Has("access_token") && len(params.Get("appsecret_proof")) != map[bool]int{true: 64}[want] {
				t.Errorf("%s: %s has the proof %q", kind, r.Line(), params.Get("appsecret_proof"))
			}
		}
	}
}

// A configuration of Facebook Login for Business replaces the scopes of Facebook Login only.
func TestConfigID(t *testing.T) {
	t.Parallel()
	n := instagram.New(instagram.Options{Facebook: instagram.Facebook{ConfigID: "99"}})
	for kind, want := range map[string]string{"facebook": "99", "instagram": ""} {
		address, err := url.Parse(n.Authorize(network.Authorization{Kind: kind}))
		if err != nil || address.Query().Get("config_id") != want ||
			strings.Contains(address.RawQuery, "scope") != (want == "") {
			t.Errorf("%s: %s, %v", kind, address, err)
		}
	}
}
