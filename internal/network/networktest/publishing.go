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

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
)

// fullText has characters that are often encoded wrongly.
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
			"PrepareFromEachDraft": PrepareFromEachDraft, "LoseAnything": LoseAnything,
			"LoseAnswerOfCommit": loseAnswerOfCommit,
			"NeverArrived":       neverArrived, "Cancelled": cancelled, "CommitTwice": commitTwice,
			"CommitAtOnce": commitAtOnce,
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
		"Fits": fits, "PlanIsTheSame": planIsTheSame, "ForeignDrafts": foreignDrafts, "Markers": markers,
		"Expiry": expiry, "Duplicate": duplicate,
		"Checks": func(t *testing.T, c Case) {
			each(t, c.Checks, func(t *testing.T, checked Checked) { check(t, c, checked) })
		},
		"Refusals": func(t *testing.T, c Case) {
			each(t, c.Refusals, func(t *testing.T, r Refusal) { refuse(t, c, r) })
		},
	})
}

// publish publishes a post by each kind of sign-in, while the network processes its media for a while.
func publish(t *testing.T, c Case, p Content) {
	for _, kind := range c.kinds() {
		f := New(t, c, 10*time.Second)
		g := f.Connect(kind, Account)
		media := p.media(f.Library)
		d := f.Prepared(g, p.text(), media...)
		f.WantHeld(0)
		receipt := f.Publish(g, d)
		if held := f.Held(); len(held) != 1 || receipt.ID != held[0].ID && !c.PendingIDs {
			t.Fatalf("held %+v, receipt %+v", held, receipt)
		}
		f.WantShown(p.text(), media)
		f.Clock.Advance(10 * time.Second)
		if !c.PendingIDs || receipt.Permalink != "" {
			f.WantPermalink(g, receipt)
		}
		f.WantStands(g, d)
	}
}

// PrepareFromEachDraft resumes from every stored draft. Each leads to a prepared draft, and a prepared draft does
// not change.
func PrepareFromEachDraft(t *testing.T, c Case, p Content) {
	t.Helper()
	f := New(t, c, 10*time.Second)
	g := f.Grant()
	drafts, err := f.Drafts(g, f.Plan(p.text(), p.media(f.Library)...))
	if err != nil {
		t.Fatal(err)
	}
	ready := drafts[len(drafts)-1]
	if begun := f.Wire.Count(p.Begins); p.Begins != "" && begun != max(p.Uploads, 1) {
		t.Errorf("begun %d times", begun)
	}
	for i, d := range drafts[1:] {
		again, err := f.Prepare(g, d)
		if err != nil {
			t.Fatalf("draft %d: %v", i+1, err)
		}
		if string(d) == string(ready) && string(again) != string(ready) {
			t.Errorf("%s became %s", ready, again)
		}
	}
	if begun := f.Wire.Count(p.Begins); p.Begins != "" && begun != max(p.Uploads, 1) {
		t.Errorf("begun %d times in the end", begun)
	}
	if _, err := f.Prepare(g, drafts[0]); err != nil {
		t.Error(err)
	}
	f.WantHeld(0)
	f.Publish(g, ready)
	f.WantHeld(1)
}

// LoseAnything drops each request of a publication in turn, or its response. The post is published once.
func LoseAnything(t *testing.T, c Case, p Content) {
	t.Helper()
	f := New(t, c, 0)
	g := f.Grant()
	before := f.Wire.Count("")
	f.deliver(g, f.Plan(p.text(), p.media(f.Library)...))
	for n := range f.Wire.Count("") - before {
		for what, request := range map[string]bool{"request": true, "answer": false} {
			t.Run(fmt.Sprintf("%s %d", what, n), func(t *testing.T) {
				t.Parallel()
				f := New(t, c, 0)
				g := f.Grant()
				media := p.media(f.Library)
				d := f.Plan(p.text(), media...)
				f.Wire.loseNth(n, request)
				f.deliver(g, d)
				f.WantShown(p.text(), media)
			})
		}
	}
}

// deliver publishes as a delivery does: it repeats calls that had no effect, and resolves uncertain ones.
func (f *Fixture) deliver(g network.Grant, d network.Draft) {
	f.t.Helper()
	for range 10 {
		d = f.insist(g, d)
		_, err := f.Commit(g, d)
		failed, _ := errors.AsType[*network.Error](err)
		switch Class(err) {
		case "":
			return
		case network.Transient:
			continue
		case network.Uncertain, network.Processing, network.Duplicate:
			if failed.Draft != nil {
				d = failed.Draft
			}
		default:
			f.t.Fatal(err)
		}
		tried := f.Tried()
		verdict, _, err := f.decide(g, d, tried)
		if verdict == network.Unknown && (Class(err) == network.Transient || f.c.PendingIDs) {
			f.Clock.Advance(time.Duration(f.c.App.Settled))
			verdict, _, err = f.decide(g, d, tried)
		}
		if verdict == network.Stands {
			return
		}
		if verdict == network.Unknown || err != nil && Class(err) != network.Transient {
			f.t.Fatalf("verdict %v, %v", verdict, err)
		}
	}
	f.t.Fatal("never published")
}

// prepareAnyway prepares a draft, repeating calls that had no effect.
func (f *Fixture) insist(g network.Grant, d network.Draft) network.Draft {
	f.t.Helper()
	for range 10 {
		drafts, err := f.Drafts(g, d)
		d = drafts[len(drafts)-1]
		if err == nil {
			return d
		}
		wantClass(f.t, err, network.Transient, "")
	}
	f.t.Fatal("never ready")
	return nil
}

// loseAnswerOfCommit drops the response to each commit. The outcome is uncertain, and Resolve finds the post.
func loseAnswerOfCommit(t *testing.T, c Case, p Content) {
	for _, kind := range c.kinds() {
		f := New(t, c, 0)
		g := f.Connect(kind, Account)
		d := f.Prepared(g, " lost\n\nand  found ", p.media(f.Library)...)
		f.Wire.LoseAnswer(c.shows)
		_, err := f.Commit(g, d)
		failed := WantClass(t, err, network.Uncertain, "")
		for _, secret := range []string{g.Access, "upload_id", "token="} {
			if strings.Contains(failed.Error(), secret) {
				t.Errorf("the error has a secret: %v", failed)
			}
		}
		f.Wire.LoseAnswer(nil)
		f.WantStands(g, d)
	}
}

func (c Case) shows(r Request) bool {
	if c.Shows == nil {
		return r.Method != http.MethodGet
	}
	return c.Shows(r)
}

// neverArrived resolves a post that was never committed. Once it counts as absent, it is published.
func neverArrived(t *testing.T, c Case, p Content) {
	f := New(t, c, 0)
	g := f.Grant()
	d := f.Prepared(g, "late", p.media(f.Library)...)
	tried := f.Tried()
	if p.Settled > 0 {
		for range 2 {
			verdict, _, err := f.Network().Resolve(t.Context(), g, d, tried)
			if c.PendingIDs && Class(err) == network.Uncertain {
				break
			}
			if failed := WantClass(t, err, network.Processing, ""); verdict != network.Unknown ||
				!failed.After.After(f.Clock.Now()) {
				t.Errorf("verdict %v, not before %v", verdict, failed.After)
			}
			f.Clock.Advance(p.Settled - time.Second)
		}
		f.Clock.Advance(tried.First.Add(p.Settled).Sub(f.Clock.Now()))
	}
	verdict, receipt, err := f.Network().Resolve(t.Context(), g, d, tried)
	if verdict != network.Absent || err != nil || receipt != (network.Receipt{}) {
		t.Fatalf("verdict %v, %+v, %v", verdict, receipt, err)
	}
	f.Publish(g, d)
	f.WantHeld(1)
}

// cancelCalls makes calls with a cancelled context. No request is sent.
func cancelled(t *testing.T, c Case, p Content) {
	f := New(t, c, 0)
	g := f.Grant()
	d, planned := f.Prepared(g, "never", p.media(f.Library)...), f.Plan("never", p.media(f.Library)...)
	sent := f.Wire.Count("")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := f.Network()
	calls := map[string]func() error{
		"commit":  func() error { _, err := n.Commit(ctx, g, d, f.Library); return err },
		"resolve": func() error { _, _, err := n.Resolve(ctx, g, d, network.Tried{}); return err },
	}
	if p.Media != nil && !p.Local {
		calls["prepare"] = func() error { _, _, err := n.Prepare(ctx, g, planned, f.Library); return err }
	}
	for name, call := range calls {
		if failed := WantClass(t, call(), network.Transient, ""); strings.Contains(failed.Error(), g.Access) {
			t.Errorf("%s: the error has the token", name)
		}
	}
	f.WantHeld(0)
	if now := f.Wire.Count(""); now != sent {
		t.Errorf("%d requests", now-sent)
	}
}

// commitTwice commits a draft twice. There is one post.
func commitTwice(t *testing.T, c Case, p Content) {
	if c.repeatable(p) {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	d := f.Prepared(g, "once", p.media(f.Library)...)
	first := f.Publish(g, d)
	again, err := f.Commit(g, d)
	if err != nil && Class(err) != c.Another && Class(err) != network.Uncertain ||
		err == nil && !c.PendingIDs && again.ID != first.ID {
		t.Errorf("receipts %+v and %+v, %v", first, again, err)
	}
	f.WantStands(g, d)
}

func (c Case) repeatable(p Content) bool {
	for _, name := range c.Repeatable {
		if name == "" || name == p.Name {
			return true
		}
	}
	return false
}

// commitAtOnce commits a draft concurrently. There is one post.
func commitAtOnce(t *testing.T, c Case, p Content) {
	if c.repeatable(p) {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	d := f.Prepared(g, "once", p.media(f.Library)...)
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
		case c.Another, network.Uncertain:
		default:
			t.Error(err)
		}
	}
	if c.Another != "" && published != 1 {
		t.Errorf("published %d times", published)
	}
	f.WantStands(g, d)
}

// fits checks which fits are requested of the library.
func fits(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	var asked []network.Fit
	for _, p := range c.Posts {
		f.Post(g, "fits "+p.Name, p.media(f.Library)...)
	}
	for _, fit := range f.Library.Asked() {
		if len(asked) == 0 || !seen(asked, fit) {
			asked = append(asked, fit)
		}
	}
	if diff := cmp.Diff(c.Fits, asked); diff != "" {
		t.Error(diff)
	}
	f.WantHeld(len(c.Posts))
}

func seen(fits []network.Fit, fit network.Fit) bool {
	for _, one := range fits {
		if cmp.Equal(one, fit) {
			return true
		}
	}
	return false
}

func planIsTheSame(t *testing.T, c Case) {
	f := New(t, c, 0)
	intent := network.Intent{
		Seed: "s", First: Start, At: Start, Content: network.Content{Text: "same\xff", Media: f.Media()},
	}
	first, err := f.Network().Plan(intent)
	if err != nil {
		t.Fatal(err)
	}
	f.Clock.Advance(time.Hour)
	if second, err := f.Network().Plan(intent); err != nil || string(first) != string(second) {
		t.Errorf("%s and %s, %v", first, second, err)
	}
}

// foreignDrafts commits drafts of other networks and drafts that are not prepared. No request is sent.
func foreignDrafts(t *testing.T, c Case) {
	f := New(t, c, 0)
	g := f.Grant()
	drafts := append([]string{"", "{}", "[]", `{"network":"another","` + c.Platform + `":false,"container":"181"}`},
		c.Drafts...)
	for _, p := range c.Posts {
		drafts = append(drafts, string(f.Plan("not prepared", p.media(f.Library)...)))
	}
	sent := f.Wire.Count("")
	for _, d := range drafts {
		_, err := f.Commit(g, network.Draft(strings.ReplaceAll(d, "{server}", g.Server)))
		wantClass(t, err, network.Rejected, "")
		_, _, err = f.Resolve(g, network.Draft(strings.ReplaceAll(d, "{server}", g.Server)))
		wantClass(t, err, network.Rejected, "")
	}
	if now := f.Wire.Count(""); now != sent {
		t.Errorf("%d requests", now-sent)
	}
}

// check checks the problems of a post.
func check(t *testing.T, c Case, checked Checked) {
	var got []string
	for _, p := range c.New("https://network.test", network.App{}).
		Check(network.Content{Text: checked.Text, Media: checked.Media}) {
		if !strings.HasSuffix(p.Message, ".") {
			t.Errorf("%q is not a sentence", p.Message)
		}
		if p.Blocking {
			p.Code = "!" + p.Code
		}
		got = append(got, p.Code)
	}
	if diff := cmp.Diff(checked.Want, got); diff != "" {
		t.Error(diff)
	}
}

// Checks returns a Checked.
func Checks(text string, media []network.Media, want ...string) Checked {
	return Checked{Text: text, Media: media, Want: want}
}

// refuse publishes a post that is rejected.
func refuse(t *testing.T, c Case, r Refusal) {
	f := New(t, c, 0)
	g := f.Grant()
	d, err := f.Prepare(g, f.Plan(r.Text, Content{Media: r.Media}.media(f.Library)...))
	if r.Commit && err == nil {
		_, err = f.Commit(g, d)
		if failed, ok := errors.AsType[*network.Error](err); ok && failed.Class == network.Processing {
			if failed.Draft != nil {
				d = failed.Draft
			}
			_, _, err = f.Decide(g, d)
		}
	}
	wantClass(t, err, r.Class, r.Code)
	f.WantHeld(0)
}

// markers publishes texts with the sandbox's markers.
func markers(t *testing.T, c Case) {
	dead := c.Old.Class
	if dead == "" {
		dead = network.AuthDead
	}
	table := map[string]Marker{
		"[sandbox:reject]":                    {[]network.Class{network.Rejected, network.Rejected}, 0},
		"[sandbox:reject@" + c.Platform + "]": {[]network.Class{network.Rejected}, 0},
		"[sandbox:reject@another]":            {[]network.Class{""}, 1},
		"[sandbox:rate-limit]":                {[]network.Class{network.Rate, network.Rate}, 0},
		"[sandbox:error]":                     {[]network.Class{network.Uncertain, ""}, 1},
		"[sandbox:lost-answer]":               {[]network.Class{network.Uncertain}, 1},
		"[sandbox:expired-token]":             {[]network.Class{dead, dead}, 0},
		"[sandbox:slow=0]":                    {[]network.Class{""}, 1},
	}
	for _, p := range c.Posts {
		if p.Variant {
			continue
		}
		for text, m := range table {
			t.Run(text+" "+p.Name, func(t *testing.T) {
				t.Parallel()
				mark(t, c, p, text, m)
			})
		}
	}
}

func mark(t *testing.T, c Case, p Content, text string, m Marker) {
	f := New(t, c, 0)
	g := f.Grant()
	d, err := f.Prepare(g, f.Plan(text, p.media(f.Library)...))
	for i, want := range m.Want {
		if err == nil {
			_, err = f.Commit(g, d)
		}
		if Class(err) != want {
			t.Errorf("commit %d: %v, want %q", i, err, want)
		}
		if failed, ok := errors.AsType[*network.Error](err); ok && want == network.Rate &&
			failed.After.Sub(f.Clock.Now()) != 2*time.Second {
			t.Errorf("commit %d: not before %v", i, failed.After)
		}
		if want == network.Uncertain {
			f.wantMarked(g, d, len(f.Held()) == 1)
		}
		err = nil
		if p.MarkedEarly {
			d, err = f.Prepare(g, f.Plan(text, p.media(f.Library)...))
		}
	}
	f.WantHeld(m.Held)
}

// wantMarked resolves a post after a marked commit. If posts are listed late, a missing one may remain unknown.
func (f *Fixture) wantMarked(g network.Grant, d network.Draft, stands bool) {
	f.t.Helper()
	if stands {
		f.WantStands(g, d)
		return
	}
	if verdict, _, err := f.Decide(g,
		d); (verdict != network.Absent || err != nil) && (!f.c.PendingIDs || Class(err) != network.Uncertain) {
		f.t.Errorf("verdict %v, %v", verdict, err)
	}
}

// expiry commits a draft whose upload has expired. It is prepared again.
func expiry(t *testing.T, c Case) {
	if c.Expiry.After == 0 {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	p := c.Posts[c.Expiry.Post]
	d := f.Prepared(g, "late", p.media(f.Library)...)
	f.Clock.Advance(c.Expiry.After)
	g = f.Grant()
	_, err := f.Commit(g, d)
	wantClass(t, err, network.Uncertain, c.Expiry.Commit)
	verdict, _, err := f.Decide(g, d)
	wantClass(t, err, network.Transient, c.Expiry.Resolve)
	if verdict != network.Absent {
		t.Fatalf("verdict %v", verdict)
	}
	if d, err = f.Prepare(g, d); err != nil {
		t.Fatal(err)
	}
	f.Publish(g, d)
	f.WantHeld(1)
}

// duplicate publishes a text twice. The second is rejected, and the first is not taken for it.
func duplicate(t *testing.T, c Case) {
	if !c.Duplicates {
		return
	}
	f := New(t, c, 0)
	g := f.Grant()
	first := f.Publish(g, f.Prepared(g, "twice"))
	second := f.Prepared(g, "twice")
	_, err := f.Commit(g, second)
	wantClass(t, err, network.Duplicate, "")
	tried := f.Tried()
	tried.Others = []string{first.ID}
	f.Clock.Advance(time.Minute)
	if verdict, receipt, err := f.Network().
		Resolve(t.Context(), g, second, tried); verdict != network.Absent || err != nil {
		t.Errorf("verdict %v, %+v, %v", verdict, receipt, err)
	}
	f.WantHeld(1)
	if c.Again == 0 {
		return
	}
	f.Clock.Advance(c.Again)
	g = f.Grant()
	f.Publish(g, f.Prepared(g, "twice"))
	f.WantHeld(2)
}
