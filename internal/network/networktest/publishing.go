package networktest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
)

// fullText has characters that are often encoded incorrectly.
const fullText = "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag"

func (p Content) text() string {
	if p.Text == "" {
		return fullText
	}
	return p.Text
}

func (p Content) media(l *Library) []network.Media {
	if p.Media == nil {
		return nil
	}
	return p.Media(l)
}

func testPublishing(t *testing.T, c Case) {
	for _, p := range c.Posts {
		tests := map[string]func(*testing.T, Case, Content){
			"PrepareFromEachDraft": PrepareFromEachDraft, "LoseAnything": LoseEachRequest,
			"LoseAnswerOfCommit": loseCommitResponse,
			"NeverArrived":       loseCommitRequest, "Cancelled": cancelCalls, "CommitTwice": commitTwice,
			"CommitAtOnce": commitConcurrently,
		}
		if p.Variant {
			clear(tests)
		}
		tests["Publish"] = publish
		for name, test := range tests {
			t.Run(name+" "+p.Name, func(t *testing.T) {
				t.Parallel()
				test(t, c, p)
			})
		}
	}
	subtests(t, c, map[string]func(*testing.T, Case){
		"Fits": checkFileLimits, "PlanIsTheSame": planTwice, "ForeignDrafts": rejectForeignDrafts, "Markers": testMarkers,
		"Expiry": commitExpired, "Duplicate": publishDuplicate,
		"Checks": func(t *testing.T, c Case) { RunChecks(t, c, c.Checks) },
		"Rejections": func(t *testing.T, c Case) {
			runEach(t, c.Rejections, func(t *testing.T, r Rejection) { reject(t, c, r) })
		},
	})
}

// publish publishes a post with each sign-in method, on a network that needs time to process media.
func publish(t *testing.T, c Case, p Content) {
	for _, kind := range c.kinds() {
		f := New(t, c, 10*time.Second)
		g := f.Connect(kind, Account)
		media := f.useContent(p)
		d := f.MustPrepare(g, p.text(), media...)
		f.WantPosts(0)
		receipt := f.Publish(g, d)
		if posts := f.Posts(); len(posts) != 1 || receipt.ID != posts[0].ID && !c.PendingIDs {
			t.Fatalf("held %+v, receipt %+v", posts, receipt)
		}
		f.WantShown(p.text(), media)
		f.Clock.Advance(10 * time.Second)
		if !c.PendingIDs || receipt.Permalink != "" {
			f.WantPermalink(g, receipt)
		}
		f.WantPublished(g, d)
	}
}

// checkFileLimits checks the limits that the adapter passes to the library.
func checkFileLimits(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	var requested []network.FileLimits
	for _, p := range c.Posts {
		f.Post(g, "fits "+p.Name, f.useContent(p)...)
	}
	for _, fit := range f.Library.RequestedLimits() {
		if len(requested) == 0 || !containsLimits(requested, fit) {
			requested = append(requested, fit)
		}
	}
	if diff := cmp.Diff(c.FileLimits, requested); diff != "" {
		t.Error(diff)
	}
	f.WantPosts(len(c.Posts))
}

func containsLimits(list []network.FileLimits, limits network.FileLimits) bool {
	for _, l := range list {
		if cmp.Equal(l, limits) {
			return true
		}
	}
	return false
}

func planTwice(t *testing.T, c Case) {
	f := New(t, c, 0)
	submission := network.Submission{
		Seed: "s", FirstSubmittedAt: Start, At: Start, Content: network.Content{Text: "same\xff", Media: f.Media()},
	}
	first, err := f.Network().Plan(submission)
	if err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(time.Hour)
	if second, err := f.Network().Plan(submission); err != nil || string(first) != string(second) {
		t.Errorf("%s and %s, %v", first, second, err)
	}
}

// rejectForeignDrafts checks that Commit and Resolve reject drafts of other networks and unprepared drafts, without
// sending a request.
func rejectForeignDrafts(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	drafts := append([]string{"", "{}", "[]", `{"network":"another","` + c.Platform + `":false,"container":"181"}`},
		c.Drafts...)
	for _, p := range c.Posts {
		drafts = append(drafts, string(f.Plan("not prepared", f.useContent(p)...)))
	}
	requestCount := f.Transport.Count("")
	for _, d := range drafts {
		_, err := f.Commit(g, network.Draft(strings.ReplaceAll(d, "{server}", g.Server)))
		_ = WantClass(t, err, network.Rejected, "")
		_, _, err = f.Resolve(g, network.Draft(strings.ReplaceAll(d, "{server}", g.Server)))
		_ = WantClass(t, err, network.Rejected, "")
	}
	if newCount := f.Transport.Count(""); newCount != requestCount {
		t.Errorf("%d requests", newCount-requestCount)
	}
}

// RunChecks checks that Check finds the expected problems in each post.
func RunChecks(t *testing.T, c Case, checks map[string]CheckCase) {
	t.Helper()
	runEach(t, checks, func(t *testing.T, checkCase CheckCase) { check(t, c, checkCase) })
}

// check checks that Check finds the expected problems in a post.
func check(t *testing.T, c Case, checkCase CheckCase) {
	var got []string
	n := c.New("https://network.test", network.App{})
	for _, p := range n.Check(network.Content{Text: checkCase.Text, Media: checkCase.Media, Options: checkCase.Options}) {
		if !strings.HasSuffix(p.Message, ".") {
			t.Errorf("%q is not a sentence", p.Message)
		}
		if p.Blocking {
			p.Code = "!" + p.Code
		}
		got = append(got, p.Code)
	}
	if diff := cmp.Diff(checkCase.Want, got); diff != "" {
		t.Error(diff)
	}
}

// NewCheckCase returns a CheckCase.
func NewCheckCase(text string, media []network.Media, want ...string) CheckCase {
	return CheckCase{Text: text, Media: media, Want: want}
}

// With returns a copy of c for a post with options.
func (c CheckCase) With(o network.Options) CheckCase {
	c.Options = o
	return c
}

// reject publishes a post that is rejected.
func reject(t *testing.T, c Case, r Rejection) {
	f := New(t, c, 0)
	g := f.Grant()
	d, err := f.Prepare(g, f.Plan(r.Text, f.useContent(Content{Media: r.Media, Options: r.Options})...))
	if r.Commit && err == nil {
		_, err = f.Commit(g, d)
		if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Class == network.Processing {
			if netErr.Draft != nil {
				d = netErr.Draft
			}
			_, _, err = f.Decide(g, d)
		}
	}
	_ = WantClass(t, err, r.Class, r.Code)
	f.WantPosts(0)
}

// testMarkers publishes texts with markers that make the sandbox fail.
func testMarkers(t *testing.T, c Case) {
	expiredClass := c.ExpiredTokenError.Class
	if expiredClass == "" {
		expiredClass = network.ReconnectRequired
	}
	table := map[string]Marker{
		"[sandbox:reject]":                    {[]network.ErrorClass{network.Rejected, network.Rejected}, 0},
		"[sandbox:reject@" + c.Platform + "]": {[]network.ErrorClass{network.Rejected}, 0},
		"[sandbox:reject@another]":            {[]network.ErrorClass{""}, 1},
		"[sandbox:rate-limit]":                {[]network.ErrorClass{network.RateLimited, network.RateLimited}, 0},
		"[sandbox:error]":                     {[]network.ErrorClass{network.OutcomeUnknown, ""}, 1},
		"[sandbox:lost-answer]":               {[]network.ErrorClass{network.OutcomeUnknown}, 1},
		"[sandbox:expired-token]":             {[]network.ErrorClass{expiredClass, expiredClass}, 0},
		"[sandbox:slow=0]":                    {[]network.ErrorClass{""}, 1},
	}
	for _, p := range c.Posts {
		if p.Variant || p.NoText {
			continue
		}
		for text, m := range table {
			t.Run(text+" "+p.Name, func(t *testing.T) {
				t.Parallel()
				commitMarked(t, c, p, text, m)
			})
		}
	}
}

func commitMarked(t *testing.T, c Case, p Content, text string, m Marker) {
	f := New(t, c, 0)
	g := f.Grant()
	d, err := f.Prepare(g, f.Plan(text, f.useContent(p)...))
	for i, want := range m.Want {
		if err == nil {
			_, err = f.Commit(g, d)
		}
		if Class(err) != want {
			t.Errorf("commit %d: %v, want %q", i, err, want)
		}
		if netErr, ok := errors.AsType[*network.Error](err); ok && want == network.RateLimited &&
			netErr.RetryAt.Sub(f.Clock.Now()) != 2*time.Second {
			t.Errorf("commit %d: not before %v", i, netErr.RetryAt)
		}
		if want == network.OutcomeUnknown {
			f.wantMarked(g, d, len(f.Posts()) == 1)
		}
		err = nil
		if p.MarkedEarly {
			d, err = f.Prepare(g, f.Plan(text, f.useContent(p)...))
		}
	}
	f.WantPosts(m.Posts)
}

// wantMarked checks the verdict on a post after a commit with a marker. For networks with PendingIDs, the verdict on a
// missing post may be Unknown.
func (f *Fixture) wantMarked(g network.Grant, d network.Draft, isPublished bool) {
	f.t.Helper()
	if isPublished {
		f.WantPublished(g, d)
		return
	}
	verdict, _, err := f.Decide(g, d)
	if (verdict != network.Absent || err != nil) && (!f.c.PendingIDs || Class(err) != network.OutcomeUnknown) {
		f.t.Errorf("verdict %v, %v", verdict, err)
	}
}

// commitExpired commits a draft with an expired upload. The draft then has to be prepared again.
func commitExpired(t *testing.T, c Case) {
	if c.Expiry.After == 0 {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	p := c.Posts[c.Expiry.Post]
	d := f.MustPrepare(g, "late", f.useContent(p)...)
	f.Clock.Advance(c.Expiry.After)
	g = f.Grant()
	_, err := f.Commit(g, d)
	_ = WantClass(t, err, network.OutcomeUnknown, c.Expiry.Commit)
	verdict, _, err := f.Decide(g, d)
	_ = WantClass(t, err, network.Transient, c.Expiry.Resolve)
	if verdict != network.Absent {
		t.Fatalf("verdict %v", verdict)
	}
	if d, err = f.Prepare(g, d); err != nil {
		t.Fatal(err)
	}
	f.Publish(g, d)
	f.WantPosts(1)
}

// publishDuplicate publishes a text twice. The second post is rejected, and Resolve does not mistake the first for the
// second.
func publishDuplicate(t *testing.T, c Case) {
	if !c.Duplicates {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	first := f.Publish(g, f.MustPrepare(g, "twice"))
	second := f.MustPrepare(g, "twice")
	_, err := f.Commit(g, second)
	_ = WantClass(t, err, network.Duplicate, "")
	history := f.RecentHistory()
	history.OtherPosts = []string{first.ID}
	f.Clock.Advance(time.Minute)
	verdict, receipt, err := f.Network().Resolve(t.Context(), g, second, history)
	if verdict != network.Absent || err != nil {
		t.Errorf("verdict %v, %+v, %v", verdict, receipt, err)
	}
	f.WantPosts(1)
	if c.DuplicateAfter == 0 {
		return
	}
	f.Clock.Advance(c.DuplicateAfter)
	g = f.Grant()
	f.Publish(g, f.MustPrepare(g, "twice"))
	f.WantPosts(2)
}
