package facebook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"pressroom/internal/network"
	"pressroom/internal/network/facebook"
	"pressroom/internal/network/networktest"
)

// Every call with a token proves that the app makes it. An app that requires this works.
func TestProof(t *testing.T) {
	t.Parallel()
	strict := adapter
	strict.New = func(base string, app network.App) network.Network {
		app.ClientID += "-require-app-secret"
		return adapter.New(base, app)
	}
	f := networktest.New(t, strict, 0)
	f.MakeEveryCall()
	calls := 0
	for _, r := range f.Wire.Requests("") {
		params := r.Params()
		token := params.Get("access_token")
		if token == "" {
			continue
		}
		calls++
		mac := hmac.New(sha256.New, []byte("app-secret"))
		mac.Write([]byte(token))
		if got := params.Get("appsecret_proof"); got != hex.EncodeToString(mac.Sum(nil)) {
			t.Errorf("%s: the proof is %q", r.Line(), got)
		}
	}
	if calls < 10 {
		t.Errorf("only %d calls", calls)
	}
}

// A configuration of Facebook Login for Business replaces the scopes.
func TestConfigID(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(facebook.New(facebook.Options{ConfigID: "99"}).Authorize(network.Authorization{}))
	if err != nil || address.Query().Get("config_id") != "99" || strings.Contains(address.RawQuery, "scope") {
		t.Errorf("%s, %v", address, err)
	}
}
