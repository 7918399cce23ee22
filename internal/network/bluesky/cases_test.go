package bluesky_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/pds"
)

func connect(t *testing.T, w env) {
	for _, identifier := range []string{w.handle, " @" + w.handle + " ", w.did} {
		g := must.Get(newNetwork().Connect(t.Context(),
			network.Credentials{Server: w.url + "/", Identifier: identifier, Password: w.password}))(t)
		if g.Account != w.did || g.Username != w.handle || strings.TrimRight(g.Server, "/") != w.url ||
			g.AccessToken == "" || g.RefreshToken == "" {
			t.Errorf("grant %+v", g)
		}
	}
}

func connectWithWrongPassword(t *testing.T, w env) {
	for _, c := range []network.Credentials{
		{Server: w.url, Identifier: w.handle, Password: "wrong"},
		{Server: w.url, Identifier: "nobody.test", Password: w.password},
	} {
		_, err := newNetwork().Connect(t.Context(), c)
		rejection := networktest.WantClass(t, err, network.ReconnectRequired, "AuthenticationRequired")
		if rejection.Status != http.StatusUnauthorized || rejection.Message == "" {
			t.Errorf("%+v", rejection)
		}
	}
}

func publishUnchangedText(t *testing.T, w env) {
	g := w.connect(t)
	text := "Grüße 👋 @" + w.handle + " @nobody.test: siehe example.com/ä, https://example.org/(x) <b>&amp;</b> #Tag #日本語"
	d := prepare(t, g, "post-1", text)
	receipt := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	held := w.posts(t)
	if len(held) != 1 || held[0].URI != receipt.ID || !receipt.At.Equal(planTime) {
		t.Fatalf("held %v, receipt %+v", held, receipt)
	}
	rkey := receipt.ID[strings.LastIndex(receipt.ID, "/")+1:]
	if want := "https://bsky.app/profile/" + w.handle + "/post/" + rkey; receipt.Permalink != want {
		t.Errorf("permalink %s, want %s", receipt.Permalink, want)
	}
	facet := func(part, kind, member, value string) map[string]any {
		start := float64(strings.Index(text, part))
		return map[string]any{
			"index":    map[string]any{"byteStart": start, "byteEnd": start + float64(len(part))},
			"features": []any{map[string]any{"$type": "app.bsky.richtext.facet#" + kind, member: value}},
		}
	}
	want := map[string]any{
		"$type": "app.bsky.feed.post", "text": text, "createdAt": "2026-11-21T09:30:00.000Z", "langs": []any{"en", "de"},
		"facets": []any{
			facet("@"+w.handle, "mention", "did", w.did),
			facet("example.com/ä", "link", "uri", "https://example.com/ä"),
			facet("https://example.org/(x)", "link", "uri", "https://example.org/(x)"),
			facet("#Tag", "tag", "tag", "Tag"),
			facet("#日本語", "tag", "tag", "日本語"),
		},
	}
	var got map[string]any
	must.NoError(t, json.Unmarshal(held[0].Value, &got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func commitTwice(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "once")
	first := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	second := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	if first != second || len(w.posts(t)) != 1 {
		t.Errorf("receipts %+v and %+v, posts %v", first, second, w.posts(t))
	}
}

func commitConcurrently(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "once")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := newNetwork().Commit(t.Context(), g, d, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if texts := w.texts(t); len(texts) != 1 {
		t.Errorf("%d posts", len(texts))
	}
}

func commitChangedRecord(t *testing.T, w env) {
	g := w.connect(t)
	must.Get(newNetwork().Commit(t.Context(), g, prepare(t, g, "post-1", "first"), nil))(t)
	_, err := newNetwork().Commit(t.Context(), g, prepare(t, g, "post-1", "second"), nil)
	networktest.WantClass(t, err, network.OutcomeUnknown, "InvalidSwap")
	if diff := cmp.Diff([]string{"first"}, w.texts(t)); diff != "" {
		t.Error(diff)
	}
}

func resolve(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "Is it there? #yes "+w.handle)
	verdict, receipt, err := newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	if err != nil || verdict != network.Absent || receipt != (network.Receipt{}) {
		t.Fatalf("before: %v, %+v, %v", verdict, receipt, err)
	}
	committed := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	g.AccessToken = "gone" // records are public
	verdict, receipt, err = newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	if err != nil || verdict != network.Published || receipt != committed {
		t.Errorf("after: %v, %+v, %v", verdict, receipt, err)
	}
}

func resolveChangedRecord(t *testing.T, w env) {
	g := w.connect(t)
	must.Get(newNetwork().Commit(t.Context(), g, prepare(t, g, "post-1", "first"), nil))(t)
	verdict, _, err := newNetwork().Resolve(t.Context(), g, prepare(t, g, "post-1", "second"), network.CommitHistory{})
	networktest.WantClass(t, err, network.OutcomeUnknown, "RecordDiffers")
	if verdict != network.Unknown {
		t.Errorf("verdict %v", verdict)
	}
}

func publishTooLongText(t *testing.T, w env) {
	g := w.connect(t)
	family := "👨‍👩‍👧‍👦"
	for name, text := range map[string]string{"graphemes": strings.Repeat("é", 301), "bytes": strings.Repeat(family, 130)} {
		_, err := newNetwork().Commit(t.Context(), g, prepare(t, g, name, text), nil)
		if rejection := networktest.WantClass(t, err, network.Rejected, "InvalidRequest"); rejection.Message == "" {
			t.Errorf("%s: no message", name)
		}
	}
	// The longest text by our count also fits by the server's count.
	if _, err := newNetwork().Commit(t.Context(), g, prepare(t, g, "fits", strings.Repeat(family, 120)), nil); err != nil {
		t.Error(err)
	}
	if _, err := newNetwork().Commit(t.Context(), g, prepare(t, g, "fits too", strings.Repeat("हि", 300)), nil); err != nil {
		t.Error(err)
	}
	if texts := w.texts(t); len(texts) != 2 {
		t.Errorf("%d posts", len(texts))
	}
}

func commitWithInvalidTokens(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "dead")
	garbage := g
	garbage.AccessToken = "garbage"
	_, err := newNetwork().Commit(t.Context(), garbage, d, nil)
	networktest.WantClass(t, err, network.ReconnectRequired, "InvalidToken")
	swapped := g
	swapped.AccessToken = g.RefreshToken
	_, err = newNetwork().Commit(t.Context(), swapped, d, nil)
	networktest.WantClass(t, err, network.ReconnectRequired, "InvalidToken")
	expired := w.expired(t, g)
	_, err = newNetwork().Commit(t.Context(), expired, d, nil)
	if rejection := networktest.WantClass(t, err, network.RefreshRequired,
		"ExpiredToken"); rejection.Status != http.StatusBadRequest {
		t.Errorf("status %d", rejection.Status)
	}
	renewed := must.Get(newNetwork().Refresh(t.Context(), expired))(t)
	if _, err := newNetwork().Commit(t.Context(), renewed, d, nil); err != nil {
		t.Error(err)
	}
}

func commitWithoutToken(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "none")
	g.AccessToken = ""
	_, err := newNetwork().Commit(t.Context(), g, d, nil)
	if rejection := networktest.WantClass(t, err, network.ReconnectRequired,
		"AuthMissing"); rejection.Status != http.StatusUnauthorized {
		t.Errorf("status %d", rejection.Status)
	}
}

func refresh(t *testing.T, w env) {
	old := w.connect(t)
	renewed := must.Get(newNetwork().Refresh(t.Context(), old))(t)
	if renewed.RefreshToken == old.RefreshToken || renewed.Account != old.Account || renewed.Username != old.Username ||
		renewed.Server != old.Server {
		t.Errorf("%+v became %+v", old, renewed)
	}
	// An access token is valid until it expires, even after a refresh.
	for seed, g := range map[string]network.Grant{"old": old, "renewed": renewed} {
		if _, err := newNetwork().Commit(t.Context(), g, prepare(t, g, seed, seed), nil); err != nil {
			t.Errorf("%s: %v", seed, err)
		}
	}
}

// refreshTwice refreshes with the same token twice, as after a lost response. Both pairs of tokens work.
func refreshTwice(t *testing.T, w env) {
	old := w.connect(t)
	for _, seed := range []string{"first", "second"} {
		renewed := must.Get(newNetwork().Refresh(t.Context(), old))(t)
		again := must.Get(newNetwork().Refresh(t.Context(), renewed))(t)
		if _, err := newNetwork().Commit(t.Context(), again, prepare(t, again, seed, seed), nil); err != nil {
			t.Error(err)
		}
	}
}

func refreshWithInvalidTokens(t *testing.T, w env) {
	g := w.connect(t)
	for name, token := range map[string]string{"garbage": "garbage", "an access token": g.AccessToken, "none": ""} {
		dead := g
		dead.RefreshToken = token
		_, err := newNetwork().Refresh(t.Context(), dead)
		if rejection := networktest.WantClass(t, err, network.ReconnectRequired, ""); rejection.Code == "" {
			t.Errorf("%s: no code", name)
		}
	}
	w.signOut(t, g)
	_, err := newNetwork().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.ReconnectRequired, "ExpiredToken")
}

func (w env) signOut(t *testing.T, g network.Grant) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/xrpc/com.atproto.server.deleteSession", nil))(t)
	request.Header.Set("Authorization", "Bearer "+g.RefreshToken)
	response := must.Get(http.DefaultClient.Do(request))(t)
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("deleteSession: HTTP %d", response.StatusCode)
	}
}

func resolveAfterLostResponse(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "received but not answered")
	lossy := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Transport: responseDropper{}}}})
	_, err := lossy.Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.OutcomeUnknown, "")
	verdict, receipt, err := newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	if err != nil || verdict != network.Published {
		t.Fatalf("%v, %v", verdict, err)
	}
	again, err := newNetwork().Commit(t.Context(), g, d, nil)
	if err != nil || again != receipt || len(w.posts(t)) != 1 {
		t.Errorf("%+v and %+v, %v, %d posts", receipt, again, err, len(w.posts(t)))
	}
	_, err = lossy.Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.Transient, "")
	if _, err := newNetwork().Refresh(t.Context(), g); err != nil {
		t.Error(err)
	}
}

func commitToAnotherAccount(t *testing.T, w env) {
	g := w.connect(t)
	d := prepare(t, g, "post-1", "not mine")
	g.Account = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
	_, err := newNetwork().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.ReconnectRequired, "AccountNotFound")
	if len(w.posts(t)) != 0 {
		t.Error("a post was created")
	}
}

func TestRateLimitOfGenuineServer(t *testing.T) {
	t.Parallel()
	server := pds.StartLimited(t)
	n := newNetwork()
	wrong := network.Credentials{Server: server.URL, Identifier: "nobody.test", Password: "wrong"}
	var rejected [40]error
	var all sync.WaitGroup
	for i := range rejected { // concurrently, as each wrong password takes a third of a second
		all.Go(func() { _, rejected[i] = n.Connect(t.Context(), wrong) })
	}
	all.Wait()
	limited := 0
	for _, err := range rejected {
		if networktest.Class(err) != network.RateLimited {
			networktest.WantClass(t, err, network.ReconnectRequired, "AuthenticationRequired")
			continue
		}
		limited++
		rejection := networktest.WantClass(t, err, network.RateLimited, "RateLimitExceeded")
		if ahead := time.Until(rejection.RetryAt); ahead <= 0 || ahead > 5*time.Minute+time.Second {
			t.Errorf("not before %v, which is %v ahead", rejection.RetryAt, ahead)
		}
	}
	if limited != 10 {
		t.Errorf("%d of 40 sign-ins were rejected, want those after the thirtieth", limited)
	}
}
