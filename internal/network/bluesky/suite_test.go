package bluesky_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/pds"
)

// The cases run against a real Bluesky server and against the sandbox.

// env is a server with an account, for one case.
type env struct {
	url                   string
	handle, did, password string
	expired               func(*testing.T, network.Grant) network.Grant // returns the grant with an expired access token
	another               func(*testing.T) network.Grant                // returns the grant of a second account
}

var cases = map[string]func(*testing.T, env){
	"connect":                      connect,
	"connect with wrong password":  connectWithWrongPassword,
	"published text is unchanged":  publishUnchangedText,
	"commit twice":                 commitTwice,
	"commit concurrently":          commitConcurrently,
	"commit a changed record":      commitChangedRecord,
	"resolve":                      resolve,
	"resolve a changed record":     resolveChangedRecord,
	"text too long":                publishTooLongText,
	"invalid access tokens":        commitWithInvalidTokens,
	"no token":                     commitWithoutToken,
	"refresh":                      refresh,
	"refresh twice":                refreshTwice,
	"invalid refresh tokens":       refreshWithInvalidTokens,
	"lost response":                resolveAfterLostResponse,
	"another account's repository": commitToAnotherAccount,
	"one image":                    publishImage,
	"four images":                  publishFourImages,
	"a video":                      publishVideo,
	"image too large":              publishTooLargeImage,
	"file too large":               uploadTooLargeFile,
	"file of a wrong type":         uploadWrongType,
	"another account's blob":       publishBlobOfAnotherAccount,
	"prepare twice":                prepareTwice,
	"upload with an expired token": uploadWithExpiredToken,
	"quote":                        publishQuote,
	"quote with an image":          publishQuoteWithImage,
	"quote of a missing post":      quoteMissingPost,
	"quote of a protected post":    quoteProtectedPost,
	"link card":                    publishLinkCard,
	"labels and languages":         publishLabels,
	"gates":                        publishWithGates,
	"commit with gates twice":      commitWithGatesTwice,
	"gates of an earlier record":   commitWithGatesAfterOther,
}

// genuineCases maps capabilities to the cases that test them with a real server. Videos are not included, because the
// tests have no real server of Bluesky's video service.
var genuineCases = map[string]string{
	networktest.SignIn: "connect", networktest.Text: "published text is unchanged", networktest.SingleImage: "one image",
	networktest.SeveralImages: "four images", networktest.OutcomeLookup: "lost response",
}

// The guide says how each capability is verified.
func TestVerification(t *testing.T) {
	t.Parallel()
	c := withVideoService
	c.Posts, c.RealServer = adapter.Posts, map[string]bool{}
	for capability, name := range genuineCases {
		if c.RealServer[capability] = cases[name] != nil; cases[name] == nil {
			t.Errorf("no case %q", name)
		}
	}
	networktest.Verify(t, c)
}

func TestGenuineServer(t *testing.T) {
	t.Parallel()
	server := pds.Start(t)
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := env{url: server.URL}
			w.handle, w.did, w.password = server.NewAccount(t)
			w.expired = func(t *testing.T, g network.Grant) network.Grant {
				g.AccessToken = server.ExpireToken(t, g.AccessToken)
				return g
			}
			w.another = func(t *testing.T) network.Grant {
				second := env{url: server.URL}
				second.handle, second.did, second.password = server.NewAccount(t)
				return second.connect(t)
			}
			run(t, w)
		})
	}
}

func TestSandbox(t *testing.T) {
	t.Parallel()
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, sandboxEnv(t))
		})
	}
}

func sandboxEnv(t *testing.T) env {
	t.Helper()
	clock := testkit.NewClock(time.Now())
	w := env{
		url: networktest.Sandbox(t, clock, 0, "alice.test", "bob.test") + "/bluesky", handle: "alice.test", password: networktest.Password,
	}
	w.did = w.connect(t).Account
	w.expired = func(_ *testing.T, g network.Grant) network.Grant {
		clock.Advance(2*time.Hour + time.Second)
		return g
	}
	w.another = func(t *testing.T) network.Grant {
		second := env{url: w.url, handle: "bob.test", password: networktest.Password}
		return second.connect(t)
	}
	return w
}

var planTime = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

func newNetwork() *bluesky.Network { return bluesky.New(bluesky.Options{}) }

func (w env) connect(t *testing.T) network.Grant {
	t.Helper()
	g := must.Get(newNetwork().Connect(t.Context(), network.Credentials{Server: w.url, Identifier: w.handle, Password: w.password}))(t)
	return g
}

// prepare returns the prepared draft of a text.
func prepare(t *testing.T, g network.Grant, seed, text string) network.Draft {
	t.Helper()
	d, _, err := newNetwork().Prepare(t.Context(), g, plan(t, seed, network.Content{Text: text, Languages: []string{"en", "de"}}), nil)
	must.NoError(t, err)
	return d
}

func plan(t *testing.T, seed string, c network.Content) network.Draft {
	t.Helper()
	d := must.Get(newNetwork().Plan(network.Submission{Seed: seed, FirstSubmittedAt: planTime, At: planTime, Content: c}))(t)
	return d
}

func (w env) posts(t *testing.T) []pds.Post {
	t.Helper()
	return (&pds.Server{URL: w.url}).Posts(t, w.did)
}

func (w env) texts(t *testing.T) []string {
	t.Helper()
	var texts []string
	for _, p := range w.posts(t) {
		var record struct{ Text string }
		must.NoError(t, json.Unmarshal(p.Value, &record))
		texts = append(texts, record.Text)
	}
	return texts
}

// responseDropper is a transport that sends requests and drops the responses.
type responseDropper struct{}

var errLost = errors.New("the response was lost")

func (responseDropper) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := networktest.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	return nil, errLost
}
