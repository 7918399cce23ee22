package bluesky_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

func withOptions(text string, o network.BlueskyOptions) network.Content {
	return network.Content{Text: text, Options: network.Options{Bluesky: &o}}
}

// publishContent publishes a post and returns its record and its receipt.
func publishContent(
	t *testing.T, w env, seed string, c network.Content, files network.Files,
) (map[string]any, network.Receipt) {
	t.Helper()
	g := w.connect(t)
	d, _, err := newNetwork().Prepare(t.Context(), g, plan(t, seed, c), files)
	must.NoError(t, err)
	receipt := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	verdict, resolved, err := newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	if err != nil || verdict != network.Published || resolved != receipt {
		t.Errorf("resolving: %v, %+v, %v", verdict, resolved, err)
	}
	return w.record(t, "app.bsky.feed.post", receipt.ID), receipt
}

// record returns a record of the account, or nil if there is none.
func (w env) record(t *testing.T, collection, post string) map[string]any {
	t.Helper()
	query := url.Values{"repo": {w.did}, "collection": {collection}, "rkey": {post[strings.LastIndex(post, "/")+1:]}}
	value, _ := w.find(t, query)["value"].(map[string]any)
	return value
}

// find returns the response of com.atproto.repo.getRecord.
func (w env) find(t *testing.T, query url.Values) map[string]any {
	t.Helper()
	address := w.url + "/xrpc/com.atproto.repo.getRecord?" + query.Encode()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	response := must.Get((&http.Client{}).Do(request))(t)
	defer response.Body.Close()
	var found map[string]any
	must.NoError(t, json.NewDecoder(response.Body).Decode(&found))
	return found
}

func (w env) cid(t *testing.T, post string) any {
	t.Helper()
	rkey := post[strings.LastIndex(post, "/")+1:]
	return w.find(t, url.Values{"repo": {w.did}, "collection": {"app.bsky.feed.post"}, "rkey": {rkey}})["cid"]
}

func publishQuote(t *testing.T, w env) {
	_, first := publishContent(t, w, "post-1", network.Content{Text: "first"}, nil)
	rkey := first.ID[strings.LastIndex(first.ID, "/")+1:]
	for i, address := range []string{
		first.ID, first.Permalink, "http://127.0.0.1:8090/bluesky/profile/" + w.handle + "/post/" + rkey,
		"https://bsky.app/profile/" + w.did + "/post/" + rkey + "?ref=x", "at://" + w.handle + "/app.bsky.feed.post/" + rkey,
	} {
		got, _ := publishContent(t, w, "quote-"+string(rune('a'+i)),
			withOptions("quoting", network.BlueskyOptions{QuoteURL: address}), nil)
		want := map[string]any{
			"$type": "app.bsky.embed.record", "record": map[string]any{"uri": first.ID, "cid": w.cid(t, first.ID)},
		}
		if diff := cmp.Diff(want, got["embed"]); diff != "" {
			t.Errorf("%s: %s", address, diff)
		}
	}
}

func publishQuoteWithImage(t *testing.T, w env) {
	_, first := publishContent(t, w, "post-1", network.Content{Text: "first"}, nil)
	files, content := newLibrary(pngItem(t, 40, 30, "Bild"))
	content.Options.Bluesky = &network.BlueskyOptions{QuoteURL: first.ID, LinkCard: &network.BlueskyOptionsLinkCard{URL: "https://a.test/"}}
	got, _ := publishContent(t, w, "post-2", content, files)
	embed := got["embed"].(map[string]any)
	media := embed["media"].(map[string]any)
	want := map[string]any{
		"$type": "app.bsky.embed.record", "record": map[string]any{"uri": first.ID, "cid": w.cid(t, first.ID)},
	}
	if diff := cmp.Diff(want, embed["record"]); diff != "" || embed["$type"] != "app.bsky.embed.recordWithMedia" ||
		media["$type"] != "app.bsky.embed.images" || len(media["images"].([]any)) != 1 {
		t.Errorf("%v, %s", embed, diff)
	}
}

func wantPrepareError(t *testing.T, w env, address, code string) {
	t.Helper()
	d := plan(t, "quote", withOptions("quoting", network.BlueskyOptions{QuoteURL: address}))
	_, _, err := newNetwork().Prepare(t.Context(), w.connect(t), d, nil)
	if rejected := networktest.WantClass(t, err, network.Rejected, code); rejected.Message == "" {
		t.Errorf("%s: %+v", address, rejected)
	}
}

func quoteMissingPost(t *testing.T, w env) {
	for _, address := range []string{
		"at://" + w.did + "/app.bsky.feed.post/3l2345672abzz", "https://bsky.app/profile/" + w.handle + "/post/3l2345672abzz",
		"https://bsky.app/profile/nobody.test/post/3l2345672abzz",
	} {
		wantPrepareError(t, w, address, "QuoteNotFound")
	}
}

func quoteProtectedPost(t *testing.T, w env) {
	_, first := publishContent(t, w, "post-1", withOptions("first", network.BlueskyOptions{DisableQuotes: true}), nil)
	wantPrepareError(t, w, first.ID, "QuotesDisabled")
}

func publishLinkCard(t *testing.T, w env) {
	picture := pngItem(t, 40, 30, "")
	files, content := newLibrary(picture)
	id := content.Media[0].ID
	content = withOptions("See example.com/a.", network.BlueskyOptions{
		LinkCard: &network.BlueskyOptionsLinkCard{Title: "Title", Description: "About <it>", ThumbnailMediaID: id},
	})
	got, _ := publishContent(t, w, "post-1", content, files)
	card := got["embed"].(map[string]any)["external"]
	if w.takeBlob(t, card, "thumb") != string(picture.bytes) {
		t.Error("the thumbnail was changed during the upload")
	}
	want := map[string]any{"uri": "https://example.com/a", "title": "Title", "description": "About <it>"}
	if diff := cmp.Diff(want, card); diff != "" {
		t.Error(diff)
	}
}

func publishLabels(t *testing.T, w env) {
	content := withOptions("hallo", network.BlueskyOptions{
		Labels: []string{"nudity", "graphic-media"}, Languages: []string{"de", "pt-BR"},
	})
	content.Languages = []string{"en"}
	got, _ := publishContent(t, w, "post-1", content, nil)
	want := map[string]any{
		"$type":  "com.atproto.label.defs#selfLabels",
		"values": []any{map[string]any{"val": "nudity"}, map[string]any{"val": "graphic-media"}},
	}
	if diff := cmp.Diff(want, got["labels"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{"de", "pt-BR"}, got["langs"]); diff != "" {
		t.Error(diff)
	}
}

func publishWithGates(t *testing.T, w env) {
	for setting, want := range map[string][]any{
		"nobody": {}, "followers,mentioned": {
			map[string]any{"$type": "app.bsky.feed.threadgate#followerRule"},
			map[string]any{"$type": "app.bsky.feed.threadgate#mentionRule"},
		},
		"following": {map[string]any{"$type": "app.bsky.feed.threadgate#followingRule"}},
		"everybody": nil, "": nil,
	} {
		o := network.BlueskyOptions{DisableQuotes: true}
		if setting != "" {
			o.ReplySettings = strings.Split(setting, ",")
		}
		post, receipt := publishContent(t, w, "post "+setting, withOptions("gated "+setting, o), nil)
		gate := map[string]any{"$type": "app.bsky.feed.threadgate", "post": receipt.ID, "createdAt": post["createdAt"], "allow": want}
		if want == nil {
			gate = nil
		}
		if diff := cmp.Diff(gate, w.record(t, "app.bsky.feed.threadgate", receipt.ID)); diff != "" {
			t.Errorf("%q: %s", setting, diff)
		}
		gate = map[string]any{
			"$type": "app.bsky.feed.postgate", "post": receipt.ID, "createdAt": post["createdAt"],
			"embeddingRules": []any{map[string]any{"$type": "app.bsky.feed.postgate#disableRule"}},
		}
		if diff := cmp.Diff(gate, w.record(t, "app.bsky.feed.postgate", receipt.ID)); diff != "" {
			t.Errorf("%q: %s", setting, diff)
		}
	}
}

// commitWithGatesTwice checks that a repeat with gates creates nothing, and that the post is found.
func commitWithGatesTwice(t *testing.T, w env) {
	g := w.connect(t)
	d, _, err := newNetwork().Prepare(t.Context(), g,
		plan(t, "post-1", withOptions("once", network.BlueskyOptions{ReplySettings: []string{"nobody"}})), nil)
	must.NoError(t, err)
	first := must.Get(newNetwork().Commit(t.Context(), g, d, nil))(t)
	_, err = newNetwork().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.OutcomeUnknown, "InternalServerError")
	verdict, receipt, err := newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	if err != nil || verdict != network.Published || receipt != first || len(w.posts(t)) != 1 {
		t.Errorf("%v, %+v, %v; %d posts", verdict, receipt, err, len(w.posts(t)))
	}
}

func commitWithGatesAfterOther(t *testing.T, w env) {
	g := w.connect(t)
	must.Get(newNetwork().Commit(t.Context(), g, prepare(t, g, "post-1", "first"), nil))(t)
	d, _, err := newNetwork().Prepare(t.Context(), g,
		plan(t, "post-1", withOptions("second", network.BlueskyOptions{ReplySettings: []string{"nobody"}})), nil)
	must.NoError(t, err)
	_, err = newNetwork().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.OutcomeUnknown, "InternalServerError")
	_, _, err = newNetwork().Resolve(t.Context(), g, d, network.CommitHistory{})
	networktest.WantClass(t, err, network.OutcomeUnknown, "RecordDiffers")
	if diff := cmp.Diff([]string{"first"}, w.texts(t)); diff != "" {
		t.Error(diff)
	}
}

// The requests of a post with every option match the lexicons.
func TestOptionsDescribed(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	n := f.Network()
	publish := func(seed string, o network.BlueskyOptions) network.Receipt {
		d, _, err := n.Prepare(t.Context(), g, plan(t, seed, withOptions("See example.com/a", o)), f.Library)
		must.NoError(t, err)
		return must.Get(n.Commit(t.Context(), g, d, f.Library))(t)
	}
	first := publish("a", network.BlueskyOptions{
		LinkCard: &network.BlueskyOptionsLinkCard{Title: "Title", ThumbnailMediaID: f.Library.Image("png", 5, 9).ID},
		Labels:   []string{"porn"}, Languages: []string{"de"}, DisableQuotes: false,
	})
	publish("b", network.BlueskyOptions{
		QuoteURL: first.ID, ReplySettings: []string{"mentioned", "followers", "following"}, DisableQuotes: true,
	})
	if f.Transport.Count("applyWrites") != 1 || f.Transport.Count("uploadBlob") != 1 {
		t.Error("the options were not sent")
	}
}

func TestLinkCardFromPage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page network.Page
		err  error
		card network.BlueskyOptionsLinkCard
		want map[string]any
	}{
		"page": {page: network.Page{Title: "Page", Description: "About"},
			want: map[string]any{"title": "Page", "description": "About"}},
		"own description": {page: network.Page{Title: "Page", Description: "About"},
			card: network.BlueskyOptionsLinkCard{Description: "Mine"}, want: map[string]any{"title": "Page", "description": "Mine"}},
		"own title": {err: errors.New("the page was read"), card: network.BlueskyOptionsLinkCard{Title: "Mine"},
			want: map[string]any{"title": "Mine", "description": ""}},
		"unreadable page": {
			err:  errors.New("unreachable"),
			want: map[string]any{"title": "example.com", "description": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := bluesky.New(bluesky.Options{ReadPage: func(_ context.Context, address string) (network.Page, error) {
				if address != "https://example.com/a" {
					t.Errorf("reads %s", address)
				}
				return c.page, c.err
			}})
			w := sandboxEnv(t)
			d := plan(t, "post-1", withOptions("https://example.com/a", network.BlueskyOptions{LinkCard: &c.card}))
			done, _, err := n.Prepare(t.Context(), w.connect(t), d, nil)
			must.NoError(t, err)
			var got struct {
				Record struct {
					Embed struct{ External map[string]any }
				}
			}
			must.NoError(t, json.Unmarshal(done, &got))
			c.want["uri"] = "https://example.com/a"
			if diff := cmp.Diff(c.want, got.Record.Embed.External); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	card := func(url string) network.BlueskyOptions {
		return network.BlueskyOptions{LinkCard: &network.BlueskyOptionsLinkCard{URL: url}}
	}
	const valid = "https://bsky.app/profile/alice.test/post/3l2345672abzz"
	for name, c := range map[string]struct {
		text  string
		media []network.Media
		o     network.BlueskyOptions
		want  []string
	}{
		"none":                   {},
		"card of the text":       {text: "see example.com/a", o: card("")},
		"card with a URL":        {o: card("https://example.com")},
		"card without a link":    {o: card(""), want: []string{"!option_missing"}},
		"card of another scheme": {o: card("ftp://example.com"), want: []string{"!option_not_supported"}},
		"card with media": {
			o: card("https://example.com"), media: []network.Media{picture},
			want: []string{"option_not_supported"},
		},
		"quote":            {o: network.BlueskyOptions{QuoteURL: valid}},
		"quote with media": {o: network.BlueskyOptions{QuoteURL: valid}, media: []network.Media{picture}},
		"quote of a profile": {
			o:    network.BlueskyOptions{QuoteURL: "https://bsky.app/profile/alice.test"},
			want: []string{"!option_not_supported"},
		},
		"quote and card": {
			o:    network.BlueskyOptions{QuoteURL: valid, LinkCard: &network.BlueskyOptionsLinkCard{URL: "https://a.test"}},
			want: []string{"option_not_supported"},
		},
		"languages": {o: network.BlueskyOptions{Languages: []string{"de", "zh-Hant-TW"}}},
		"unknown language": {
			o:    network.BlueskyOptions{Languages: []string{"deutsch!"}},
			want: []string{"!option_not_supported"},
		},
		"nobody": {o: network.BlueskyOptions{ReplySettings: []string{"nobody"}}},
		"nobody and followers": {
			o:    network.BlueskyOptions{ReplySettings: []string{"nobody", "followers"}},
			want: []string{"!option_not_supported"},
		},
		"everybody and mentioned": {
			o:    network.BlueskyOptions{ReplySettings: []string{"mentioned", "everybody"}},
			want: []string{"!option_not_supported"},
		},
	} {
		content := withOptions(c.text+" text", c.o)
		content.Media = c.media
		var got []string
		for _, p := range newNetwork().Check(content) {
			code := p.Code
			if p.Blocking {
				code = "!" + code
			}
			if got = append(got, code); p.Message == "" {
				t.Errorf("%s: no message", name)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
