package bluesky_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

const aliceDID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"

func sessionWith(t *testing.T, more map[string]any) string {
	t.Helper()
	members := map[string]any{"accessJwt": "access", "refreshJwt": "refresh", "did": aliceDID, "handle": "alice.test"}
	maps.Copy(members, more)
	body := must.Get(json.Marshal(members))(t)
	return string(body)
}

func service(id string, endpoint any) map[string]any {
	return map[string]any{"didDoc": map[string]any{"service": []any{map[string]any{"id": id, "serviceEndpoint": endpoint}}}}
}

func TestConnectFindsPDS(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more map[string]any
		want string // empty: the server that was entered
	}{
		"no document":                {nil, ""},
		"a PDS":                      {service("#atproto_pds", "https://pds.example"), "https://pds.example"},
		"a PDS with a full id":       {service(aliceDID+"#atproto_pds", "https://pds.example"), "https://pds.example"},
		"another service":            {service("#atproto_labeler", "https://labels.example"), ""},
		"a PDS with an invalid URL":  {service("#atproto_pds", "ftp://pds.example"), ""},
		"a PDS that is not a string": {service("#atproto_pds", map[string]any{"uri": "https://pds.example"}), ""},
		"a PDS with a password":      {service("#atproto_pds", "https://a:b@pds.example"), ""},
	} {
		given := serve(t, http.StatusOK, nil, sessionWith(t, c.more))
		g := must.Get(newNetwork().Connect(t.Context(),
			network.Credentials{Server: given.Server, Identifier: "alice.test", Password: "x"}))(t)
		want := network.Grant{Server: c.want, Account: aliceDID, Username: "alice.test", AccessToken: "access",
			RefreshToken: "refresh"}
		if want.Server == "" {
			want.Server = given.Server
		}
		if !reflect.DeepEqual(g, want) {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

func TestInvalidSessions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more map[string]any
		want network.ErrorClass
	}{
		"no token":         {map[string]any{"accessJwt": ""}, network.Transient},
		"no DID":           {map[string]any{"did": "alice"}, network.Transient},
		"not active":       {map[string]any{"active": false, "status": "takendown"}, network.ReconnectRequired},
		"no usable handle": {map[string]any{"handle": "handle", "active": true}, ""},
	} {
		given := serve(t, http.StatusOK, nil, sessionWith(t, c.more))
		g, err := newNetwork().Connect(t.Context(), network.Credentials{Server: given.Server, Identifier: "alice.test", Password: "x"})
		if networktest.Class(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && g.Username != aliceDID {
			t.Errorf("%s: %+v", name, g)
		}
	}
}

func TestRefreshOfAnotherAccount(t *testing.T) {
	t.Parallel()
	g := serve(t, http.StatusOK, nil, sessionWith(t, map[string]any{"did": "did:plc:bbbbbbbbbbbbbbbbbbbbbbbb"}))
	_, err := newNetwork().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.Transient, "")
}

func TestInvalidServers(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"", "bsky.social", "ftp://bsky.social", "https://", "https://a:b@bsky.social", "http://[::1"} {
		_, err := newNetwork().Connect(t.Context(), network.Credentials{Server: server, Identifier: "a.test", Password: "x"})
		networktest.WantClass(t, err, network.Rejected, "")
	}
}

func TestPermalinks(t *testing.T) {
	t.Parallel()
	g := serve(t, http.StatusOK, nil, `{"value":{}}`)
	d := plainDraft(t)
	var key struct{ RKey string }
	must.NoError(t, json.Unmarshal(d, &key))
	g = serve(t, http.StatusOK, nil, `{"uri":"at://`+g.Account+`/app.bsky.feed.post/`+key.RKey+`"}`)
	for web, want := range map[string]string{"": "https://bsky.app", "https://web.example/x/": "https://web.example/x"} {
		receipt, err := bluesky.New(bluesky.Options{WebURL: web}).Commit(t.Context(), g, d, nil)
		if err != nil || receipt.Permalink != want+"/profile/alice.test/post/"+key.RKey {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
}

// Revoke sends the refresh token, and accepts an empty response.
func TestRevoke(t *testing.T) {
	t.Parallel()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		if len(asked) > 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"ExpiredToken","message":"Token has been revoked"}`))
		}
	}))
	defer server.Close()
	g := network.Grant{Server: server.URL, Account: aliceDID, AccessToken: "access", RefreshToken: "refresh"}
	must.NoError(t, newNetwork().Revoke(t.Context(), g))
	if err := newNetwork().Revoke(t.Context(), g); err == nil {
		t.Error("revoking an ended session returned no error")
	}
	if want := "POST /xrpc/com.atproto.server.deleteSession Bearer refresh"; asked[0] != want {
		t.Errorf("asked for %q, want %q", asked[0], want)
	}
}
