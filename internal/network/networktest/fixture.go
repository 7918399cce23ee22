package networktest

import (
	"bytes"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
)

const (
	// Account is the account of the sandbox that a Fixture connects.
	Account = "harbour.coffee"
	// Unconfirmed is an account on Bluesky whose email address is not confirmed.
	Unconfirmed = "unconfirmed.test"

	redirect = "https://pressroom.test/connect/back"
	verifier = "a-verifier-of-PKCE-that-is-long-enough-for-its-standard"
)

// Fixture is a sandbox with a clock, and an adapter connected to the sandbox.
type Fixture struct {
	Clock     *testkit.Clock
	URL       string // base URL of the network in the sandbox
	Transport *RecordingTransport
	Library   *Library

	t          *testing.T
	c          Case
	content    Content // of the posts that are planned
	sandboxURL string
	app        network.App
}

// New starts a sandbox, and returns a Fixture for it. The sandbox takes the duration ready to process media.
func New(t *testing.T, c Case, processingTime time.Duration) *Fixture {
	t.Helper()
	f := &Fixture{t: t, c: c, Clock: testkit.NewClock(Start), Transport: &RecordingTransport{},
		Library: NewLibrary(t), app: c.App}
	if c.Passwords {
		f.sandboxURL = Sandbox(t, f.Clock, processingTime, Account, "mira.keller", Unconfirmed)
	} else {
		f.sandboxURL = Sandbox(t, f.Clock, processingTime)
	}
	f.URL = f.sandboxURL + "/" + c.Platform
	f.app.ClientID, f.app.ClientSecret, f.app.Now = "app", "app-secret", f.Clock.Now
	if c.CheckTraffic != nil {
		f.Transport.OnResponse = func(r Request) { c.CheckTraffic(t, r) }
	}
	return f
}

// Network returns the adapter.
func (f *Fixture) Network() network.Network { return f.Through(f.Transport) }

// Through returns the adapter with the given HTTP transport.
func (f *Fixture) Through(transport http.RoundTripper) network.Network {
	app := f.app
	app.HTTP = &http.Client{Transport: transport}
	return f.c.New(f.URL, app)
}

// Scopes sets the scopes that the adapter requests.
func (f *Fixture) Scopes(scopes ...string) { f.app.Scopes = scopes }

func (f *Fixture) authorizer() network.Authorizer {
	f.t.Helper()
	authorizer, ok := f.Network().(network.Authorizer)
	if !ok {
		f.t.Fatal("the network is not connected by OAuth")
	}
	return authorizer
}

// Authorization returns the parameters of a sign-in.
func Authorization(kind string) network.Authorization {
	return network.Authorization{Kind: kind, State: "s", Redirect: redirect, Verifier: verifier}
}

func (f *Fixture) consent(a network.Authorization, account, decision string) *url.URL {
	f.t.Helper()
	return Consent(f.t, f.authorizer().Authorize(a), account, decision)
}

// Exchange signs in as an account and returns the candidates.
func (f *Fixture) Exchange(kind, account string) ([]network.Candidate, error) {
	f.t.Helper()
	a := Authorization(kind)
	return f.authorizer().Exchange(f.t.Context(), a, f.consent(a, account, "allow").Query().Get("code"))
}

// Candidates returns the accounts that a person may connect.
func (f *Fixture) Candidates(kind, account string) []network.Candidate {
	f.t.Helper()
	candidates, err := f.Exchange(kind, account)
	if err != nil || len(candidates) == 0 {
		f.t.Fatalf("%d candidates: %v", len(candidates), err)
	}
	return candidates
}

// Connect connects an account with one of the network's sign-in methods.
func (f *Fixture) Connect(kind, account string) network.Grant {
	f.t.Helper()
	if f.c.Passwords {
		c := network.Credentials{Server: f.URL, Identifier: account, Password: Password}
		g, err := f.Network().Connect(f.t.Context(), c)
		if err != nil {
			f.t.Fatal(err)
		}
		return g
	}
	candidates := f.Candidates(kind, account)
	return candidates[min(f.c.CandidateIndex, len(candidates)-1)].Grant
}

// Grant connects Account with the first of the network's sign-in methods.
func (f *Fixture) Grant() network.Grant {
	f.t.Helper()
	return f.Connect(f.c.kinds()[0], Account)
}

// Renew refreshes a grant.
func (f *Fixture) Renew(g network.Grant) network.Grant {
	f.t.Helper()
	refreshed, err := f.Network().Refresh(f.t.Context(), g)
	if err != nil {
		f.t.Fatal(err)
	}
	return refreshed
}

// Media adds the media of the Case's usual post to the library.
func (f *Fixture) Media() []network.Media {
	return f.useContent(f.c.Posts[0])
}

// useContent sets the kind of post that Plan plans, and returns the media of such a post.
func (f *Fixture) useContent(p Content) []network.Media {
	f.content = p
	return p.media(f.Library)
}

// Posts returns the posts in the sandbox.
func (f *Fixture) Posts() []Post {
	f.t.Helper()
	return SandboxPosts(f.t, f.sandboxURL, f.c.Platform)
}

// WantPosts checks the number of posts in the sandbox.
func (f *Fixture) WantPosts(count int) {
	f.t.Helper()
	if posts := f.Posts(); len(posts) != count {
		f.t.Errorf("posts %+v, want %d", posts, count)
	}
}

// Plan returns the draft of a post.
func (f *Fixture) Plan(text string, media ...network.Media) network.Draft {
	f.t.Helper()
	return f.plan("post-1:1", nil, text, media...)
}

// PlanReply returns the draft of a reply, such as a part of a thread.
func (f *Fixture) PlanReply(to network.Reply, text string, media ...network.Media) network.Draft {
	f.t.Helper()
	return f.plan("post-1:1:"+to.Parent, &to, text, media...)
}

func (f *Fixture) plan(seed string, to *network.Reply, text string, media ...network.Media) network.Draft {
	f.t.Helper()
	now := f.Clock.Now()
	content := network.Content{Text: text, Media: media, Options: f.content.Options}
	d, err := f.Network().Plan(network.Submission{Seed: seed, FirstSubmittedAt: now, At: now, Content: content, Reply: to})
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// Drafts prepares a draft and advances the clock by each wait that Prepare returns. It returns all drafts, including d.
func (f *Fixture) Drafts(g network.Grant, d network.Draft) ([]network.Draft, error) {
	f.t.Helper()
	drafts := []network.Draft{d}
	for range 100 {
		next, wait, err := f.Network().Prepare(f.t.Context(), g, drafts[len(drafts)-1], f.Library)
		if err != nil {
			return drafts, err
		}
		drafts = append(drafts, next)
		if wait == 0 {
			return drafts, nil
		}
		f.Clock.Advance(wait)
	}
	f.t.Fatal("never ready")
	return nil, nil
}

// Prepare is like Drafts, but returns only the last draft.
func (f *Fixture) Prepare(g network.Grant, d network.Draft) (network.Draft, error) {
	f.t.Helper()
	drafts, err := f.Drafts(g, d)
	return drafts[len(drafts)-1], err
}

// MustPrepare returns the prepared draft of a post.
func (f *Fixture) MustPrepare(g network.Grant, text string, media ...network.Media) network.Draft {
	f.t.Helper()
	d, err := f.Prepare(g, f.Plan(text, media...))
	if err != nil {
		f.t.Fatal(err)
	}
	return d
}

// PrepareUsual returns the prepared draft of the Case's usual post with this text.
func (f *Fixture) PrepareUsual(g network.Grant, text string) network.Draft {
	f.t.Helper()
	return f.MustPrepare(g, text, f.Media()...)
}

// Commit commits a draft.
func (f *Fixture) Commit(g network.Grant, d network.Draft) (network.Receipt, error) {
	var files network.Files
	if f.c.CommitOpensFiles {
		files = f.Library
	}
	return f.Network().Commit(f.t.Context(), g, d, files)
}

// Publish commits a draft, and resolves it until the network has decided.
func (f *Fixture) Publish(g network.Grant, d network.Draft) network.Receipt {
	f.t.Helper()
	receipt, err := f.Commit(g, d)
	if Class(err) == network.Processing {
		if netErr, _ := errors.AsType[*network.Error](err); netErr.Draft != nil {
			d = netErr.Draft
		}
		_, receipt, err = f.Decide(g, d)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return receipt
}

// Post publishes a post and advances the clock by a minute.
func (f *Fixture) Post(g network.Grant, text string, media ...network.Media) network.Receipt {
	f.t.Helper()
	receipt := f.Publish(g, f.MustPrepare(g, text, media...))
	f.Clock.Advance(time.Minute)
	return receipt
}

// RecentHistory returns the history of a commit that was made just now.
func (f *Fixture) RecentHistory() network.CommitHistory {
	return network.CommitHistory{First: f.Clock.Now(), Last: f.Clock.Now()}
}

// Resolve makes one call to resolve a draft that was committed just now.
func (f *Fixture) Resolve(g network.Grant, d network.Draft) (network.Verdict, network.Receipt, error) {
	return f.Network().Resolve(f.t.Context(), g, d, f.RecentHistory())
}

// Decide resolves a draft that was committed just now, and repeats the call until the network has decided.
func (f *Fixture) Decide(g network.Grant, d network.Draft) (network.Verdict, network.Receipt, error) {
	f.t.Helper()
	return f.decide(g, d, f.RecentHistory())
}

func (f *Fixture) decide(
	g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	f.t.Helper()
	for range 200 {
		verdict, receipt, err := f.Network().Resolve(f.t.Context(), g, d, history)
		if Class(err) != network.Processing {
			return verdict, receipt, err
		}
		netErr, _ := errors.AsType[*network.Error](err)
		if verdict != network.Unknown || !netErr.RetryAt.IsZero() && !netErr.RetryAt.After(f.Clock.Now()) {
			f.t.Fatalf("verdict %v, not before %v", verdict, netErr.RetryAt)
		}
		f.Clock.Advance(max(netErr.RetryAt.Sub(f.Clock.Now()), time.Second))
	}
	f.t.Fatal("never decided")
	return 0, network.Receipt{}, nil
}

// WantPublished checks that a draft was published and is the only post.
func (f *Fixture) WantPublished(g network.Grant, d network.Draft) {
	f.t.Helper()
	verdict, receipt, err := f.Decide(g, d)
	if err != nil || verdict != network.Published {
		f.t.Fatalf("verdict %v, %v", verdict, err)
	}
	if posts := f.Posts(); len(posts) != 1 || receipt.ID != posts[0].ID && !f.c.PendingIDs {
		f.t.Errorf("posts %+v, receipt %+v", posts, receipt)
	}
}

// WantShown checks that the only post shows the media, byte for byte and in order.
func (f *Fixture) WantShown(text string, media []network.Media) {
	f.t.Helper()
	posts := f.Posts()
	if f.content.NoText {
		text = ""
	}
	if len(posts) != 1 || posts[0].Text != text || posts[0].isStory() != f.content.Options.IsStory(f.c.Platform) ||
		posts[0].Account != f.c.account() || len(posts[0].Media) != len(media) {
		f.t.Fatalf("posts %+v", posts)
	}
	for i, m := range media {
		shown, kind := Get(f.t, posts[0].Media[i])
		if want := f.Library.Bytes(m); !bytes.Equal(shown, want) || kind != http.DetectContentType(want) {
			f.t.Errorf("medium %d: %d bytes of %s", i, len(shown), kind)
		}
	}
}

// WantPermalink checks that a post's permalink opens, and returns it.
func (f *Fixture) WantPermalink(g network.Grant, r network.Receipt) string {
	f.t.Helper()
	requested := network.Receipt{ID: r.ID}
	if f.c.PendingIDs {
		requested = r
	}
	permalink, err := f.Network().Permalink(f.t.Context(), g, requested)
	if permalink == "" {
		permalink = r.Permalink // the network has no call for the permalink
	}
	if err != nil || !strings.HasPrefix(permalink, f.URL) || r.Permalink != "" && permalink != r.Permalink {
		f.t.Fatalf("permalink %q, receipt %+v, %v", permalink, r, err)
	}
	Get(f.t, permalink)
	return permalink
}

// UsePublicClient removes the secret of the adapter's app.
func (f *Fixture) UsePublicClient() { f.app.ClientSecret = "" }
