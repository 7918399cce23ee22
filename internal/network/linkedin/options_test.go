package linkedin_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/linkedin"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// optionsOf returns a post with options for LinkedIn.
func optionsOf(text string, o network.LinkedInOptions, media ...network.Media) network.Content {
	return network.Content{Text: text, Media: media, Options: network.Options{LinkedIn: &o}}
}

// prepare plans and prepares a post.
func prepare(t *testing.T, f *networktest.Fixture, g network.Grant, c network.Content) (network.Draft, error) {
	t.Helper()
	intent := network.Submission{Seed: c.Text, FirstSubmittedAt: networktest.Start, At: networktest.Start, Content: c}
	d, _, err := f.Network().Prepare(t.Context(), g, must.Get(f.Network().Plan(intent))(t), f.Library)
	return d, err
}

// publish publishes a post and returns the body of the request.
func publish(t *testing.T, f *networktest.Fixture, g network.Grant, c network.Content) (map[string]any, network.Draft) {
	t.Helper()
	d := must.Get(prepare(t, f, g, c))(t)
	must.Get(f.Network().Commit(t.Context(), g, d, f.Library))(t)
	sent := f.Transport.Requests("POST /linkedin/rest/posts")
	var body map[string]any
	must.NoError(t, json.Unmarshal(sent[len(sent)-1].Body, &body))
	return body, d
}

// A member's post can be limited to connections, a company's cannot.
func TestVisibility(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, members, 0)
	g := f.Grant()
	for visibility, want := range map[string]string{"": "PUBLIC", "PUBLIC": "PUBLIC", "CONNECTIONS": "CONNECTIONS"} {
		body, _ := publish(t, f, g, optionsOf("for "+visibility, network.LinkedInOptions{Visibility: visibility}))
		if body["visibility"] != want {
			t.Errorf("%q: %v", visibility, body)
		}
	}
	f = networktest.New(t, adapter, 0)
	_, err := prepare(t, f, f.Grant(), optionsOf("x", network.LinkedInOptions{Visibility: "CONNECTIONS"}))
	networktest.WantClass(t, err, network.Rejected, "option_not_supported")
	f.WantPosts(0)
}

// contentOf returns the content of a request.
func contentOf(body map[string]any) string {
	encoded, _ := json.Marshal(body["content"])
	return string(encoded)
}

// A poll is sent, and found again after a lost response.
func TestPoll(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	poll := &network.LinkedInOptionsPoll{Question: " Which? ", Options: []string{"Espresso ", "Filter"}}
	for duration, want := range map[string]string{"": "SEVEN_DAYS", "ONE_DAY": "ONE_DAY"} {
		poll.Duration = duration
		body, d := publish(t, f, g, optionsOf("Vote "+duration, network.LinkedInOptions{Poll: poll}))
		wantContent := `{"poll":{"options":[{"text":"Espresso"},{"text":"Filter"}],"question":"Which?",` +
			`"settings":{"duration":"` + want + `"}}}`
		if got := contentOf(body); got != wantContent {
			t.Error(got)
		}
		verdict, _, err := f.Network().Resolve(t.Context(), g, d, network.CommitHistory{First: f.Clock.Now(), Last: f.Clock.Now()})
		if err != nil || verdict != network.Published {
			t.Errorf("%v, %v", verdict, err)
		}
	}
	f.WantPosts(2)
}

// After a lost response, a post without a poll is not taken for the poll.
func TestResolvePoll(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	poll := &network.LinkedInOptionsPoll{Question: "Which?", Options: []string{"Espresso", "Filter"}}
	lost := must.Get(prepare(t, f, g, optionsOf("Vote", network.LinkedInOptions{Poll: poll})))(t)
	publish(t, f, g, optionsOf("Vote", network.LinkedInOptions{}))
	since := network.CommitHistory{First: f.Clock.Now(), Last: f.Clock.Now()}
	f.Clock.Advance(time.Hour)
	if verdict, receipt, err := f.Network().Resolve(t.Context(), g, lost, since); err != nil || verdict != network.Absent {
		t.Errorf("%v, %+v, %v", verdict, receipt, err)
	}
}

// An article has its own texts or those of the page, and an image. A post with media has no article.
func TestArticle(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, time.Minute)
	g := f.Grant()
	n := linkedin.New(linkedin.Options{
		App: network.App{HTTP: &http.Client{Transport: f.Transport}, Now: f.Clock.Now}, AuthorizeHost: g.Server,
		APIHost: g.Server, ReadPage: func(_ context.Context, address string) (network.Page, error) {
			if strings.HasSuffix(address, "/none") {
				return network.Page{}, errors.New("not found")
			}
			return network.Page{Title: "Page of " + address, Description: "About it"}, nil
		},
	})
	image := f.Library.Image("png", 9, 9)
	publish := func(c network.Content) string {
		d := must.Get(n.Plan(network.Submission{Seed: c.Text, FirstSubmittedAt: f.Clock.Now(), At: f.Clock.Now(),
			Content: c}))(t)
		for wait := time.Second; wait > 0; f.Clock.Advance(wait) {
			var err error
			if d, wait, err = n.Prepare(t.Context(), g, d, f.Library); err != nil {
				t.Fatal(err)
			}
		}
		must.Get(n.Commit(t.Context(), g, d, f.Library))(t)
		sent := f.Transport.Requests("POST /linkedin/rest/posts")
		var body map[string]any
		must.NoError(t, json.Unmarshal(sent[len(sent)-1].Body, &body))
		return contentOf(body)
	}
	for text, c := range map[string]struct {
		article network.LinkedInOptionsArticle
		want    string
	}{
		"read https://a.test/b": {
			want: `{"article":{"description":"About it","source":"https://a.test/b","title":"Page of https://a.test/b"}}`,
		},
		"no page": {
			network.LinkedInOptionsArticle{Source: "https://a.test/none"}, `{"article":{"source":"https://a.test/none","title":"a.test"}}`,
		},
		"own texts": {
			network.LinkedInOptionsArticle{Source: "https://a.test/", Title: "T", Description: "D"},
			`{"article":{"description":"D","source":"https://a.test/","title":"T"}}`,
		},
	} {
		if got := publish(optionsOf(text, network.LinkedInOptions{Article: &c.article})); got != c.want {
			t.Errorf("%s: %s", text, got)
		}
	}
	titled := optionsOf("titled", network.LinkedInOptions{Article: &network.LinkedInOptionsArticle{Source: "https://a.test/"}})
	titled.Title = "Post"
	if got := publish(titled); got != `{"article":{"source":"https://a.test/","title":"Post"}}` {
		t.Error(got)
	}
	article := &network.LinkedInOptionsArticle{Source: "https://a.test/", Title: "T", ThumbnailMediaID: image.ID}
	got := publish(optionsOf("with an image", network.LinkedInOptions{Article: article}))
	if !strings.Contains(got, `"thumbnail":"urn:li:image:`) {
		t.Error(got)
	}
	if sent := f.Transport.Requests("POST /linkedin/rest/images"); len(sent) != 1 {
		t.Errorf("%d uploads", len(sent))
	}
	if got := publish(optionsOf("media", network.LinkedInOptions{Article: article}, image)); strings.Contains(got, "article") {
		t.Error(got)
	}
	f.WantPosts(6)
}

// Mentions are encoded, and the post is found again after a lost response.
func TestMentions(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	body, d := publish(t, f, g, optionsOf("With @Harbour (Kiel), @Mira & #coffee", network.LinkedInOptions{
		Mentions: []network.LinkedInMention{
			{Name: "Harbour (Kiel)", URN: "urn:li:organization:1"}, {Name: "Mira", URN: "urn:li:person:a_b-1"},
		},
	}))
	want := `With @[Harbour \(Kiel\)](urn:li:organization:1), @[Mira](urn:li:person:a_b-1) & {hashtag|\#|coffee}`
	if body["commentary"] != want {
		t.Error(body["commentary"])
	}
	verdict, _, err := f.Network().Resolve(t.Context(), g, d, network.CommitHistory{First: f.Clock.Now(), Last: f.Clock.Now()})
	if err != nil || verdict != network.Published {
		t.Errorf("%v, %v", verdict, err)
	}
	if posts := f.Posts(); len(posts) != 1 || posts[0].Text != "With Harbour (Kiel), Mira & #coffee" {
		t.Errorf("%+v", posts)
	}
}

func TestDraftOfInvalidOptions(t *testing.T) {
	t.Parallel()
	for _, options := range []string{
		`"thumbnail":"../me"`, `"mentions":[{"name":"x","urn":"../me"}]`, `"article":{"source":"https://a.test"}`,
		`"article":{"source":"https://a.test","title":"x","thumbnail_media_id":1}`,
	} {
		d := network.Draft(`{"linkedin":true,"text":"x","ready":true,` + options + `}`)
		_, err := linkedin.New(linkedin.Options{}).Commit(t.Context(), network.Grant{}, d, nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
}

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	image := []network.Media{{Kind: network.Image, Type: "image/png"}}
	poll := func(question, duration string, choices ...string) network.LinkedInOptions {
		return network.LinkedInOptions{
			Poll: &network.LinkedInOptionsPoll{Question: question, Options: choices, Duration: duration},
		}
	}
	article := func(source string) network.LinkedInOptions {
		return network.LinkedInOptions{Article: &network.LinkedInOptionsArticle{Source: source}}
	}
	visible := func(visibility string) network.LinkedInOptions {
		return network.LinkedInOptions{Visibility: visibility}
	}
	both := poll("Q", "", "a", "b")
	both.Article = &network.LinkedInOptionsArticle{Source: "https://a.test"}
	for name, c := range map[string]struct {
		account string
		o       network.LinkedInOptions
		want    []string
		media   []network.Media
	}{
		"none":                      {},
		"connections":               {o: visible("CONNECTIONS")},
		"connections of a member":   {account: "urn:li:person:a", o: visible("CONNECTIONS")},
		"public, by a company":      {account: "urn:li:organization:1", o: visible("PUBLIC")},
		"connections of a company":  {"urn:li:organization:1", visible("CONNECTIONS"), []string{"!visibility"}, nil},
		"unknown visibility, empty": {o: visible("FRIENDS"), want: []string{"!visibility"}},
		"poll":                      {o: poll("Q", "FOURTEEN_DAYS", "a", "b")},
		"poll and image":            {o: poll("Q", "", "a", "b"), want: []string{"!poll"}, media: image},
		"poll and article": {
			o:    both,
			want: []string{"!poll"},
		},
		"no question":       {o: poll(" ", "", "a", "b"), want: []string{"!poll.question"}},
		"long question":     {o: poll(strings.Repeat("é", 141), "", "a", "b"), want: []string{"!poll.question"}},
		"one choice":        {o: poll("Q", "", "a"), want: []string{"!poll.options"}},
		"long choice":       {o: poll("Q", "", "a", strings.Repeat("é", 31)), want: []string{"!poll.options"}},
		"blank choice":      {o: poll("Q", "", "a", " "), want: []string{"!poll.options"}},
		"unknown duration":  {o: poll("Q", "TWO_DAYS", "a", "b"), want: []string{"!poll.duration"}},
		"article":           {o: article("https://a.test")},
		"article, no link":  {o: article(""), want: []string{"!article.source"}},
		"another scheme":    {o: article("ftp://a"), want: []string{"!article.source"}},
		"article and image": {o: article(""), want: []string{"article"}, media: image},
		"mention":           {o: network.LinkedInOptions{Mentions: []network.LinkedInMention{{Name: "Harbour", URN: "urn:li:person:1"}}}},
		"missing mention": {
			o:    network.LinkedInOptions{Mentions: []network.LinkedInMention{{Name: "harbour", URN: "urn:li:person:1"}}},
			want: []string{"mentions"},
		},
		"invalid URN": {
			o:    network.LinkedInOptions{Mentions: []network.LinkedInMention{{Name: "Harbour", URN: "urn:li:group:1"}}},
			want: []string{"!mentions"},
		},
	} {
		content := optionsOf("text @Harbour", c.o, c.media...)
		content.Account = c.account
		var got []string
		for _, p := range linkedin.New(linkedin.Options{}).Check(content) {
			_, field, _ := strings.Cut(p.Message, "(options.linkedin.")
			field, _, _ = strings.Cut(field, ")")
			if p.Blocking {
				field = "!" + field
			}
			got = append(got, field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
