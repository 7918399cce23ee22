package networktest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// PrepareFromEachDraft checks that preparing can resume from every stored draft, and that a prepared draft does not
// change.
func PrepareFromEachDraft(t *testing.T, c Case, p Content) {
	t.Helper()
	f := New(t, c, 10*time.Second)
	g := f.Grant()
	drafts, err := f.Drafts(g, f.Plan(p.text(), f.useContent(p)...))
	if err != nil {
		t.Fatal(err)
	}
	ready := drafts[len(drafts)-1]
	if uploads := f.Transport.Count(p.UploadStart); p.UploadStart != "" && uploads != max(p.Uploads, 1) {
		t.Errorf("begun %d times", uploads)
	}
	for i, d := range drafts[1:] {
		repeated, err := f.Prepare(g, d)
		if err != nil {
			t.Fatalf("draft %d: %v", i+1, err)
		}
		if string(d) == string(ready) && string(repeated) != string(ready) {
			t.Errorf("%s became %s", ready, repeated)
		}
	}
	if uploads := f.Transport.Count(p.UploadStart); p.UploadStart != "" && uploads != max(p.Uploads, 1) {
		t.Errorf("started %d times in total", uploads)
	}
	if _, err := f.Prepare(g, drafts[0]); err != nil {
		t.Error(err)
	}
	f.WantPosts(0)
	f.Publish(g, ready)
	f.WantPosts(1)
}

// LoseEachRequest publishes a post repeatedly, each time dropping a different request or its response. It checks that
// each post is published once.
func LoseEachRequest(t *testing.T, c Case, p Content) {
	t.Helper()
	f := New(t, c, 0)
	g := f.Grant()
	setupRequests := f.Transport.Count("")
	f.deliver(g, f.Plan(p.text(), f.useContent(p)...))
	for n := range f.Transport.Count("") - setupRequests {
		for label, dropRequest := range map[string]bool{"request": true, "answer": false} {
			t.Run(fmt.Sprintf("%s %d", label, n), func(t *testing.T) {
				t.Parallel()
				f := New(t, c, 0)
				g := f.Grant()
				media := f.useContent(p)
				d := f.Plan(p.text(), media...)
				f.Transport.loseNth(n, dropRequest)
				f.deliver(g, d)
				f.WantShown(p.text(), media)
			})
		}
	}
}

// deliver publishes like a delivery worker: it repeats calls that had no effect, and resolves uncertain outcomes.
func (f *Fixture) deliver(g network.Grant, d network.Draft) {
	f.t.Helper()
	for range 10 {
		d = f.prepareWithRetries(g, d)
		_, err := f.Commit(g, d)
		netErr, _ := errors.AsType[*network.Error](err)
		switch Class(err) {
		case "":
			return
		case network.Transient:
			continue
		case network.OutcomeUnknown, network.Processing, network.Duplicate:
			if netErr.Draft != nil {
				d = netErr.Draft
			}
		default:
			f.t.Fatal(err)
		}
		history := f.RecentHistory()
		verdict, _, err := f.decide(g, d, history)
		if verdict == network.Unknown && (Class(err) == network.Transient || f.c.PendingIDs) {
			f.Clock.Advance(time.Duration(f.c.App.ListingDelay))
			verdict, _, err = f.decide(g, d, history)
		}
		if verdict == network.Published {
			return
		}
		if verdict == network.Unknown || err != nil && Class(err) != network.Transient {
			f.t.Fatalf("verdict %v, %v", verdict, err)
		}
	}
	f.t.Fatal("never published")
}

// prepareWithRetries prepares a draft, repeating calls that had no effect.
func (f *Fixture) prepareWithRetries(g network.Grant, d network.Draft) network.Draft {
	f.t.Helper()
	for range 10 {
		drafts, err := f.Drafts(g, d)
		d = drafts[len(drafts)-1]
		if err == nil {
			return d
		}
		_ = WantClass(f.t, err, network.Transient, "")
	}
	f.t.Fatal("never ready")
	return nil
}

// loseCommitResponse drops the response to each commit. The outcome is uncertain, and Resolve finds the post.
func loseCommitResponse(t *testing.T, c Case, p Content) {
	for _, kind := range c.kinds() {
		f := New(t, c, 0)
		g := f.Connect(kind, Account)
		d := f.MustPrepare(g, " lost\n\nand  found ", f.useContent(p)...)
		f.Transport.LoseResponse(c.isPublishing)
		_, err := f.Commit(g, d)
		netErr := WantClass(t, err, network.OutcomeUnknown, "")
		for _, secret := range []string{g.AccessToken, "upload_id", "token="} {
			if strings.Contains(netErr.Error(), secret) {
				t.Errorf("the error has a secret: %v", netErr)
			}
		}
		f.Transport.LoseResponse(nil)
		f.WantPublished(g, d)
	}
}

func (c Case) isPublishing(r Request) bool {
	if c.Publishes == nil {
		return r.Method != http.MethodGet
	}
	return c.Publishes(r)
}

// loseCommitRequest resolves a post that was never committed. Once it counts as absent, it is published.
func loseCommitRequest(t *testing.T, c Case, p Content) {
	f := New(t, c, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "late", f.useContent(p)...)
	history := f.RecentHistory()
	if p.AbsentAfter > 0 {
		for range 2 {
			verdict, _, err := f.Network().Resolve(t.Context(), g, d, history)
			if c.PendingIDs && Class(err) == network.OutcomeUnknown {
				break
			}
			if netErr := WantClass(t, err, network.Processing, ""); verdict != network.Unknown ||
				!netErr.RetryAt.After(f.Clock.Now()) {
				t.Errorf("verdict %v, not before %v", verdict, netErr.RetryAt)
			}
			f.Clock.Advance(p.AbsentAfter - time.Second)
		}
		f.Clock.Advance(history.First.Add(p.AbsentAfter).Sub(f.Clock.Now()))
	}
	verdict, receipt, err := f.Network().Resolve(t.Context(), g, d, history)
	if verdict != network.Absent || err != nil || receipt != (network.Receipt{}) {
		t.Fatalf("verdict %v, %+v, %v", verdict, receipt, err)
	}
	f.Publish(g, d)
	f.WantPosts(1)
}

// cancelCalls makes calls with a canceled context and checks that no request is sent.
func cancelCalls(t *testing.T, c Case, p Content) {
	f := New(t, c, 0)
	g := f.Grant()
	d, planned := f.MustPrepare(g, "never", f.useContent(p)...), f.Plan("never", f.useContent(p)...)
	requestCount := f.Transport.Count("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := f.Network()
	calls := map[string]func() error{
		"commit":  func() error { _, err := n.Commit(ctx, g, d, f.Library); return err },
		"resolve": func() error { _, _, err := n.Resolve(ctx, g, d, network.CommitHistory{}); return err },
	}
	if p.Media != nil && !p.LocalPrepare {
		calls["prepare"] = func() error { _, _, err := n.Prepare(ctx, g, planned, f.Library); return err }
	}
	for name, call := range calls {
		if netErr := WantClass(t, call(), network.Transient, ""); strings.Contains(netErr.Error(), g.AccessToken) {
			t.Errorf("%s: the error has the token", name)
		}
	}
	f.WantPosts(0)
	if newCount := f.Transport.Count(""); newCount != requestCount {
		t.Errorf("%d requests", newCount-requestCount)
	}
}

// commitTwice commits a draft twice. The result is one post.
func commitTwice(t *testing.T, c Case, p Content) {
	if c.isRepeatable(p) {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "once", f.useContent(p)...)
	first := f.Publish(g, d)
	again, err := f.Commit(g, d)
	if err != nil && Class(err) != c.SecondCommit && Class(err) != network.OutcomeUnknown ||
		err == nil && !c.PendingIDs && again.ID != first.ID {
		t.Errorf("receipts %+v and %+v, %v", first, again, err)
	}
	f.WantPublished(g, d)
}

func (c Case) isRepeatable(p Content) bool {
	for _, name := range c.Repeatable {
		if name == "" || name == p.Name {
			return true
		}
	}
	return false
}

// commitConcurrently commits a draft concurrently. The result is one post.
func commitConcurrently(t *testing.T, c Case, p Content) {
	if c.isRepeatable(p) {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	d := f.MustPrepare(g, "once", f.useContent(p)...)
	results := make([]error, 8)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { _, results[i] = f.Commit(g, d) })
	}
	all.Wait()
	published := 0
	for _, err := range results {
		switch Class(err) {
		case "", network.Processing:
			published++
		case c.SecondCommit, network.OutcomeUnknown:
		default:
			t.Error(err)
		}
	}
	if c.SecondCommit != "" && published != 1 {
		t.Errorf("published %d times", published)
	}
	f.WantPublished(g, d)
}
