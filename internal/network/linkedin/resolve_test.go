package linkedin_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/linkedin"
	"pressroom/internal/network/networktest"
)

// An answer that is lost is found again, once, with its text and its media.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"text":  func(*testing.T, *library) []network.Media { return nil },
		"image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.image(t, "png", 9, 9)} },
		"several": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.image(t, "png", 9, 9), l.image(t, "gif", 9, 9)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary()
			g := w.connectOrganization("harbour.coffee")
			if _, err := w.commit(g, w.prepared(g, "another")); err != nil {
				t.Fatal(err)
			}
			d, err := w.prepare(g, w.plan("lost #tag (again) [sandbox:lost-answer]", shelf(t, l)...), l)
			if err != nil {
				t.Fatal(err)
			}
			tried, err := w.commit(g, d)
			if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) {
				t.Error("the error holds the token")
			}
			verdict, receipt, err := w.network().Resolve(t.Context(), g, d, tried)
			held := w.held()
			if err != nil || verdict != network.Stands || len(held) != 2 || receipt.ID != held[1].ID || receipt.Permalink == "" || !receipt.At.Equal(start) {
				t.Errorf("verdict %v, receipt %+v, %v, held %+v", verdict, receipt, err, held)
			}
		})
	}
}

// What is not listed may still come: only after a while it is certain that nothing was published.
func TestNotListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	d := w.prepared(g, "[sandbox:error]")
	tried, err := w.commit(g, d)
	networktest.WantClass(t, err, network.Uncertain, "INTERNAL_SERVER_ERROR")
	for range 6 {
		verdict, _, err := w.network().Resolve(t.Context(), g, d, tried)
		said := networktest.WantClass(t, err, network.Processing, "")
		if verdict != network.Unknown || !said.After.After(w.clock.Now()) {
			t.Fatalf("verdict %v, not before %v", verdict, said.After)
		}
		w.clock.Advance(10 * time.Second)
	}
	if verdict, _, err := w.network().Resolve(t.Context(), g, d, tried); verdict != network.Absent || err != nil {
		t.Fatalf("verdict %v, %v", verdict, err)
	}
	if _, err := w.commit(g, d); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

// A member's posts cannot be listed, so a person decides; nothing is tried.
func TestLostAnswerOfMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "[sandbox:lost-answer]")
	tried, err := w.commit(g, d)
	networktest.WantClass(t, err, network.Uncertain, "")
	w.clock.Advance(time.Hour)
	verdict, _, err := w.network().Resolve(t.Context(), g, d, tried)
	if networktest.WantClass(t, err, network.Uncertain, ""); verdict != network.Unknown || w.wire.count("/rest/posts") != 1 {
		t.Errorf("verdict %v, %v", verdict, w.wire.sent)
	}
	w.wantHeld(1)
}

// Whoever was allowed to read a member's posts finds them.
func TestLostAnswerOfReadableMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.opts.Scopes = []string{"openid", "profile", "w_member_social", "r_member_social"}
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "[sandbox:lost-answer]")
	tried, err := w.commit(g, d)
	networktest.WantClass(t, err, network.Uncertain, "")
	if verdict, _, err := w.network().Resolve(t.Context(), g, d, tried); verdict != network.Stands || err != nil {
		t.Errorf("verdict %v, %v", verdict, err)
	}
	w.wantHeld(1)
}

// What is answered when an author's posts are listed; the verdict and the class follow from it.
func TestResolve(t *testing.T) {
	t.Parallel()
	post := func(id, commentary string, at time.Time, more string) string {
		return fmt.Sprintf(`{"id":%q,"commentary":%q,"createdAt":%d%s}`, id, commentary, at.UnixMilli(), more)
	}
	list := func(posts ...string) string { return `{"elements":[` + strings.Join(posts, ",") + `]}` }
	const first, second = "urn:li:share:1", "urn:li:ugcPost:2"
	ours := post(first, " x\n", start.Add(time.Second), "")
	for name, c := range map[string]struct {
		status  int
		body    string
		verdict network.Verdict
		class   network.Class
	}{
		"listed":                   {200, list(ours), network.Stands, ""},
		"by a clock that is late":  {200, list(post(second, "x", start.Add(-4*time.Minute), "")), network.Stands, ""},
		"older":                    {200, list(post(first, "x", start.Add(-6*time.Minute), "")), network.Absent, ""},
		"another text":             {200, list(post(first, "y", start, "")), network.Absent, ""},
		"with an image":            {200, list(post(first, "x", start, `,"content":{"media":{"id":"urn:li:image:1"}}`)), network.Absent, ""},
		"no post":                  {200, list(post("../me", "x", start, "")), network.Absent, ""},
		"two":                      {200, list(ours, post(second, "x", start, "")), network.Unknown, network.Uncertain},
		"ours beside an older one": {200, list(ours, post(second, "x", start.Add(-time.Hour), "")), network.Stands, ""},
		"many others":              {200, list(strings.Split(strings.Repeat(post(first, "y", start, "")+";", 50), ";")[:50]...), network.Unknown, network.Uncertain},
		"none":                     {200, list(), network.Absent, ""},
		"nonsense":                 {200, `[`, network.Unknown, network.Transient},
		"not allowed":              {403, `{"status":403,"code":"ACCESS_DENIED"}`, network.Unknown, network.Uncertain},
		"too often":                {429, `{"status":429}`, network.Unknown, network.Rate},
		"a dead token":             {401, `{"status":401}`, network.Unknown, network.AuthDead},
		"a failure":                {503, ``, network.Unknown, network.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := said(t, c.status, nil, c.body)
			n := linkedin.New(linkedin.Options{App: network.App{Now: func() time.Time { return start.Add(time.Hour) }}})
			g := network.Grant{Server: w.url, Access: "token", Kind: "organization", Account: "urn:li:organization:1"}
			verdict, receipt, err := n.Resolve(t.Context(), g, network.Draft(ready), network.Tried{First: start, Last: start})
			if verdict != c.verdict || networktest.Class(err) != c.class || (verdict == network.Stands) != (receipt.ID != "") {
				t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
			}
		})
	}
}

// A redirect would carry the token to wherever it leads.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := said(t, http.StatusOK, nil, "")
	w := said(t, http.StatusTemporaryRedirect, http.Header{"Location": {elsewhere.url}}, "")
	_, err := linkedin.New(linkedin.Options{}).Commit(t.Context(), network.Grant{Server: w.url, Access: "token"}, network.Draft(ready), nil)
	networktest.WantClass(t, err, network.Uncertain, "")
}

// A post that differs by its address alone may be ours with a shorter one, and may be another: a person has to look.
func TestResolveShortAddress(t *testing.T) {
	t.Parallel()
	draft := strings.Replace(ready, `"x"`, `"read (https://example.org/article), now"`, 1)
	for commentary, want := range map[string]network.Verdict{
		`read \(https://example.org/article\), now`: network.Stands,
		`read \(https://lnkd.in/abc\), now`:         network.Unknown,
		`read \(https://lnkd.in/abc\), later`:       network.Absent,
	} {
		w := said(t, http.StatusOK, nil, fmt.Sprintf(`{"elements":[{"id":"urn:li:share:1","commentary":%q,"createdAt":%d}]}`, commentary, start.UnixMilli()))
		n := linkedin.New(linkedin.Options{App: network.App{Now: func() time.Time { return start.Add(time.Hour) }}})
		verdict, _, err := n.Resolve(t.Context(), network.Grant{Server: w.url, Kind: "organization"}, network.Draft(draft), network.Tried{First: start, Last: start})
		if verdict != want || (verdict == network.Unknown) != (networktest.Class(err) == network.Uncertain) {
			t.Errorf("%s: verdict %v, %v", commentary, verdict, err)
		}
	}
}

// A look tells what was there when it was asked for, however late its answer is read.
func TestALookIsAsOldAsItsQuestion(t *testing.T) {
	t.Parallel()
	g := network.Grant{Server: said(t, http.StatusOK, nil, `{"elements":[]}`).url, Access: "token", Kind: "organization", Account: "urn:li:organization:1"}
	networktest.StandsStill(t, func(app network.App, tried network.Tried) (network.Verdict, network.Receipt, error) {
		return linkedin.New(linkedin.Options{App: app}).Resolve(t.Context(), g, network.Draft(ready), tried)
	})
}
