package youtube_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/youtube"
)

const redirect = "https://pressroom.test/connect/back"

func TestAuthorize(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{App: network.App{ClientID: "app"}})
	address, query, _ := strings.Cut(n.Authorize(network.Authorization{
		State: "s", Redirect: redirect, Verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
	}), "?")
	got, err := url.ParseQuery(query)
	want := url.Values{
		"client_id": {"app"}, "redirect_uri": {redirect}, "response_type": {"code"}, "state": {"s"},
		"access_type": {"offline"}, "prompt": {"consent"},
		"scope": {
			"https://www.googleapis.com/auth/youtube.upload https://www.googleapis.com/auth/youtube.readonly " +
				"https://www.googleapis.com/auth/yt-analytics.readonly",
		},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}, // RFC 7636, appendix B
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || address != "https://accounts.google.com/o/oauth2/v2/auth" {
		t.Errorf("%s: %v\n%s", address, err, diff)
	}
}

func TestChannels(t *testing.T) {
	t.Parallel()
	const one, two = `{"id":"UC1a","snippet":{"title":"First","customUrl":"@one"}}`, `{"id":"UC2b","snippet":{"title":"Two"}}`
	for name, c := range map[string]struct {
		answer string
		want   []string
		class  network.ErrorClass
	}{
		"several":   {`{"items":[` + one + `,` + two + `]}`, []string{"UC1a/one/First", "UC2b/Two/Two"}, ""},
		"none":      {`{"items":[]}`, nil, network.Rejected},
		"no id":     {`{"items":[{"snippet":{"title":"x"}}]}`, nil, network.Transient},
		"no name":   {`{"items":[{"id":"UC1a"}]}`, nil, network.Transient},
		"no scope":  {`{"error":{"code":403,"errors":[{"reason":"insufficientPermissions"}]}}`, nil, network.ReconnectRequired},
		"no signup": {`{"error":{"code":401,"errors":[{"reason":"youtubeSignupRequired"}]}}`, nil, network.ReconnectRequired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := networktest.NewStub(t, adapter, network.App{}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/token" {
					_, _ = w.Write([]byte(`{"access_token":"a","refresh_token":"r","expires_in":3599,` +
						`"scope":"https://www.googleapis.com/auth/youtube.upload"}`))
					return
				}
				if c.class == network.ReconnectRequired {
					w.WriteHeader(http.StatusForbidden)
				}
				_, _ = w.Write([]byte(c.answer))
			}))
			found, err := s.Network.(*youtube.Network).Exchange(t.Context(), network.Authorization{}, "code")
			if c.class != "" {
				networktest.WantClass(t, err, c.class, "")
				return
			}
			var got []string
			for _, f := range found {
				got = append(got, f.Grant.Account+"/"+f.Grant.Username+"/"+f.DisplayName)
				if f.Grant.RefreshToken != "r" || len(f.Grant.Scopes) != 1 || err != nil {
					t.Errorf("%+v, %v", f.Grant, err)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A consent without the permission to publish connects no account.
func TestMissingScope(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	f.Scopes("https://www.googleapis.com/auth/youtube.readonly")
	_, err := f.Exchange("", "mira.keller")
	networktest.WantClass(t, err, network.ReconnectRequired, "https://www.googleapis.com/auth/youtube.upload")
}
