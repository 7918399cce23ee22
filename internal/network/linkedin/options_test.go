package linkedin_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

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
	intent := network.Intent{Seed: c.Text, First: networktest.Start, At: networktest.Start, Content: c}
	d, _, err := f.Network().Prepare(t.Context(), g, must.Get(f.Network().Plan(intent))(t), f.Library)
	return d, err
}

// publish publishes a post and returns the body of the request.
func publish(t *testing.T, f *networktest.Fixture, g network.Grant, c network.Content) (map[string]any, network.Draft) {
	t.Helper()
	d := must.Get(prepare(t, f, g, c))(t)
	must.Get(f.Network().Commit(t.Context(), g, d, f.Library))(t)
	sent := f.Wire.Requests("POST /linkedin/rest/posts")
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

func TestCheckOptions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		account string
		o       network.LinkedInOptions
		want    []string
	}{
		"none":                      {},
		"connections":               {o: network.LinkedInOptions{Visibility: "CONNECTIONS"}},
		"connections of a member":   {account: "urn:li:person:a", o: network.LinkedInOptions{Visibility: "CONNECTIONS"}},
		"public, by a company":      {account: "urn:li:organization:1", o: network.LinkedInOptions{Visibility: "PUBLIC"}},
		"connections of a company":  {"urn:li:organization:1", network.LinkedInOptions{Visibility: "CONNECTIONS"}, []string{"!visibility"}},
		"unknown visibility, empty": {o: network.LinkedInOptions{Visibility: "FRIENDS"}, want: []string{"!visibility"}},
	} {
		content := optionsOf("text", c.o)
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
