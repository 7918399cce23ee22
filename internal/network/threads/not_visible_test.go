package threads_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// invisible is the response of Threads in the first seconds after it reported a container as finished.
const invisible = `{"error":{"message":"The requested resource does not exist","type":"OAuthException","code":24,
	"error_subcode":4279009,"is_transient":false,"error_user_title":"Media Not Found",
	"error_user_msg":"The media with id 18000000000000001 cannot be found."}}`

// hiding is a server that does not find its containers. Each field is the response for one path.
type hiding struct {
	publish, posts, status string
	created                []string // media types of containers
}

func (h *hiding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := networktest.StubResponse{Body: h.status}
	switch {
	case strings.HasSuffix(r.URL.Path, "/threads_publish"):
		answer.Body = h.publish
	case strings.HasSuffix(r.URL.Path, "/threads") && r.Method == http.MethodGet:
		answer.Body = h.posts
	case strings.HasSuffix(r.URL.Path, "/threads"):
		h.created = append(h.created, r.FormValue("media_type"))
		answer.Body = `{"id":"181"}`
	}
	if strings.HasPrefix(answer.Body, `{"error"`) {
		answer.Status = http.StatusBadRequest
	}
	answer.ServeHTTP(w, r)
}

func newHiding(t *testing.T, clock *testkit.Clock) (*hiding, *networktest.Stub) {
	h := &hiding{publish: invisible, posts: `{"data":[]}`, status: `{"id":"18000000000000001","status":"FINISHED"}`}
	return h, networktest.NewStub(t, adapter, network.App{Now: clock.Now}, h)
}

// commitRejected commits a draft and expects a Processing error. It returns the error's draft.
func commitRejected(t *testing.T, s *networktest.Stub, clock *testkit.Clock, d network.Draft) network.Draft {
	t.Helper()
	_, err := s.Network.Commit(t.Context(), s.Grant, d, s.Library)
	failed := networktest.WantClass(t, err, network.Processing, "24/4279009")
	if wait := failed.RetryAt.Sub(clock.Now()); wait < time.Second || wait > 10*time.Second || len(failed.Draft) == 0 {
		t.Fatalf("after %v, draft %s", wait, failed.Draft)
	}
	clock.Advance(failed.RetryAt.Sub(clock.Now()))
	return failed.Draft
}

func wantVerdict(
	t *testing.T, s *networktest.Stub, d network.Draft, h network.CommitHistory, want network.Verdict,
	class network.ErrorClass,
) {
	t.Helper()
	verdict, _, err := s.Network.Resolve(t.Context(), s.Grant, d, h)
	if verdict != want || networktest.Class(err) != class || class == "" && err != nil {
		t.Fatalf("verdict %v, %v; want %v, %q", verdict, err, want, class)
	}
}

// A container that the network does not find yet is published again. It is replaced only after ListingDelay.
func TestContainerNotVisible(t *testing.T) {
	t.Parallel()
	for name, status := range map[string]string{"finished": `{"status":"FINISHED"}`, "not found": invisible} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testkit.NewClock(networktest.Start)
			h, s := newHiding(t, clock)
			h.status = status
			d, tried := network.Draft(ready), network.CommitHistory{First: clock.Now(), Last: clock.Now()}
			for range 2 {
				d = commitRejected(t, s, clock, d)
				wantVerdict(t, s, d, tried, network.Absent, "")
			}
			d = commitRejected(t, s, clock, d)
			wantVerdict(t, s, d, tried, network.Unknown, network.Processing)
			clock.Advance(time.Minute)
			wantVerdict(t, s, d, tried, network.Absent, network.Transient)
			h.status = `{"status":"FINISHED"}`
			rebuilt, wait, err := s.Network.Prepare(t.Context(), s.Grant, d, s.Library)
			for ; err == nil && wait > 0; rebuilt, wait, err = s.Network.Prepare(t.Context(), s.Grant, rebuilt, s.Library) {
				clock.Advance(wait)
			}
			if err != nil || len(h.created) != 1 {
				t.Fatalf("created %v, %v", h.created, err)
			}
			h.publish = `{"id":"171"}`
			if receipt, err := s.Network.Commit(t.Context(), s.Grant, rebuilt, s.Library); err != nil || receipt.ID != "171" {
				t.Errorf("receipt %+v, %v", receipt, err)
			}
		})
	}
}

// A container is not replaced while an earlier commit may still take effect.
func TestContainerNotVisibleAfterLostAnswer(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(networktest.Start)
	_, s := newHiding(t, clock)
	d := network.Draft(ready)
	for range 5 {
		d = commitRejected(t, s, clock, d)
	}
	wantVerdict(t, s, d, network.CommitHistory{Undecided: true}, network.Absent, "")
}

// A post that is listed although its container was not found is published.
func TestContainerNotVisibleButListed(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(networktest.Start)
	h, s := newHiding(t, clock)
	d := commitRejected(t, s, clock, network.Draft(ready))
	h.posts = `{"data":[{"id":"171","text":"x","media_type":"TEXT_POST","timestamp":"2026-11-21T09:30:02+0000"}]}`
	wantVerdict(t, s, d, network.CommitHistory{}, network.Published, "")
	h.posts = `{"error":{"code":4}}`
	wantVerdict(t, s, d, network.CommitHistory{}, network.Unknown, network.RateLimited)
}

// If several posts match, one of them may belong to the container.
func TestContainerNotVisibleAndSeveralListed(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(networktest.Start)
	h, s := newHiding(t, clock)
	d := network.Draft(ready)
	for range 3 {
		d = commitRejected(t, s, clock, d)
	}
	const post = `"text":"x","media_type":"TEXT_POST","timestamp":"2026-11-21T09:30:02+0000"}`
	h.posts = `{"data":[{"id":"171",` + post + `,{"id":"172",` + post + `]}`
	wantVerdict(t, s, d, network.CommitHistory{}, network.Unknown, network.OutcomeUnknown)
	wantVerdict(t, s, d, network.CommitHistory{OtherPosts: []string{"172"}}, network.Published, "")
}

// After a lost response, the verdict on a container that is not found is Unknown.
func TestContainerNotVisibleIsUnknown(t *testing.T) {
	t.Parallel()
	h, s := newHiding(t, testkit.NewClock(networktest.Start))
	h.status = invisible
	wantVerdict(t, s, network.Draft(ready), network.CommitHistory{Undecided: true}, network.Unknown, network.Processing)
}

// A post that was found by its content may belong to another publication, even if its container no longer exists.
func TestGoneContainerMatchedByContent(t *testing.T) {
	t.Parallel()
	h, s := newHiding(t, testkit.NewClock(networktest.Start))
	h.status = graph(`"code":100,"error_subcode":33`)
	h.posts = `{"data":[{"id":"171","text":"x","media_type":"TEXT_POST","timestamp":"2026-11-21T09:30:02+0000"}]}`
	verdict, receipt, err := s.Network.Resolve(t.Context(), s.Grant, network.Draft(ready), network.CommitHistory{})
	if verdict != network.Published || err != nil || receipt.ID != "171" || !receipt.MatchedByContent {
		t.Errorf("verdict %v, %+v, %v", verdict, receipt, err)
	}
}

// Prepare waits for a new container that is not found, and then replaces it a few times.
func TestFreshContainerNotVisible(t *testing.T) {
	t.Parallel()
	clock := testkit.NewClock(networktest.Start)
	h, s := newHiding(t, clock)
	h.status = invisible
	d, wait, err := s.Network.Prepare(t.Context(), s.Grant, network.Draft(planned), s.Library)
	if err != nil || wait <= 0 || len(h.created) != 1 {
		t.Fatalf("wait %v, created %v, %v", wait, h.created, err)
	}
	began := clock.Now()
	for range 100 {
		if d, wait, err = s.Network.Prepare(t.Context(), s.Grant, d, s.Library); err != nil {
			break
		}
		clock.Advance(wait)
	}
	networktest.WantClass(t, err, network.Processing, "24/4279009")
	if elapsed := clock.Now().Sub(began); len(h.created) != 4 || elapsed < 30*time.Second || elapsed > 5*time.Minute {
		t.Errorf("created %v in %v", h.created, elapsed)
	}
}

// Like Threads, the sandbox can hide a container.
func TestSandboxHidesContainer(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "late [sandbox:media-not-found]")
	for range 10 {
		_, err := f.Commit(g, d)
		if err == nil {
			break
		}
		failed := networktest.WantClass(t, err, network.Processing, "24/4279009")
		d = failed.Draft
		f.Clock.Advance(failed.RetryAt.Sub(f.Clock.Now()))
		if verdict, _, err := f.Resolve(g, d); verdict != network.Absent || err != nil {
			t.Fatalf("verdict %v, %v", verdict, err)
		}
	}
	f.WantPosts(1)
}

// If no option names an object, the unknown one may be the account or an item that the network does not find yet, so
// the creation is repeated.
func TestUnknownObjectWithoutOptions(t *testing.T) {
	t.Parallel()
	app := network.App{Now: func() time.Time { return networktest.Start }}
	for field, want := range map[string]network.ErrorClass{"topic_tag": network.Transient, "quote_post_id": network.Rejected} {
		s := networktest.NewStub(t, adapter, app, networktest.StubResponse{Status: http.StatusBadRequest, Body: unknownObject})
		options := network.ThreadsOptions{TopicTag: "Coffee"}
		if field == "quote_post_id" {
			options = network.ThreadsOptions{QuotePostID: "1"}
		}
		planned := must.Get(s.Network.Plan(network.Submission{
			Seed: "post", FirstSubmittedAt: networktest.Start, At: networktest.Start,
			Content: network.Content{Text: "x", Options: network.Options{Threads: &options}},
		}))(t)
		_, _, err := s.Network.Prepare(t.Context(), s.Grant, planned, nil)
		networktest.WantClass(t, err, want, "100/33")
	}
}

const unknownObject = `{"error":{"message":"Unsupported post request. Object with ID '1' does not exist","code":100,
	"error_subcode":33}}`

// A reply may name a post that the network does not find yet, so its creation is repeated.
func TestReplyToPostNotFoundYet(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g, n := f.Grant(), f.Network()
	planned := must.Get(n.Plan(network.Submission{
		Seed: "reply", FirstSubmittedAt: networktest.Start, At: networktest.Start, Content: network.Content{Text: "x"},
		Reply: &network.Reply{Parent: "171"},
	}))(t)
	_, _, err := n.Prepare(t.Context(), g, planned, f.Library)
	networktest.WantClass(t, err, network.Transient, "100/33")
}
