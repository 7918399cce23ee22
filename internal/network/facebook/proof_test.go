package facebook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/facebook"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Every call with a token has an appsecret_proof, so that apps that require the proof work.
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
	for _, r := range f.Transport.Requests("") {
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

// An app without a secret uploads videos without a proof.
func TestNoProofWithoutSecret(t *testing.T) {
	t.Parallel()
	chunks := 0
	s := networktest.NewStub(t, withoutSecret(), network.App{}, answering(func(r *http.Request) string {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			chunks++
			if r.FormValue("access_token") == "" || r.PostForm.Has("appsecret_proof") {
				t.Errorf("the fields are %v", r.PostForm)
			}
			return `{"start_offset":"100","end_offset":"100"}`
		}
		return `{"video_id":"15001","upload_session_id":"16001","start_offset":"0","end_offset":"100"}`
	}))
	_, _, err := s.Network.Prepare(t.Context(), s.Grant, network.Draft(plannedVideo), s.Library)
	if must.NoError(t, err); chunks != 1 {
		t.Errorf("%d parts", chunks)
	}
}

// withoutSecret is the adapter with an app without a secret.
func withoutSecret() networktest.Case {
	public := adapter
	public.New = func(base string, app network.App) network.Network {
		app.ClientSecret = ""
		return adapter.New(base, app)
	}
	return public
}

// A configuration of Facebook Login for Business replaces the scopes.
func TestConfigID(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(facebook.New(facebook.Options{ConfigID: "99"}).Authorize(network.Authorization{}))
	if err != nil || address.Query().Get("config_id") != "99" || strings.Contains(address.RawQuery, "scope") {
		t.Errorf("%s, %v", address, err)
	}
}
