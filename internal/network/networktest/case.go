package networktest

import (
	"net/http"
	"testing"
	"time"

	"pressroom/internal/network"
)

// Case is what the conformance suite has to know of an adapter.
type Case struct {
	Platform string
	// New makes the adapter of a network whose hosts are below an address.
	New  func(base string, app network.App) network.Network
	App  network.App               // options other than the client, the clock and the transport
	Wire func(*testing.T, Request) // checks each request to the sandbox and its answer; may be nil

	Publishing
	Signing
	Failures
	Collecting
	Containers Containers // the zero value if the network has none
}

// Publishing is how a network publishes.
type Publishing struct {
	Posts       []Content // forms of posts; the first is the usual one
	CommitReads bool      // Commit needs the files
	PendingIDs  bool      // a receipt may have an id that is not the post's, and Permalink needs the whole receipt
	// Another is the class of the second of two commits of one draft: "" if it gives the same receipt.
	Another network.Class
	// Repeatable are the posts of which two commits of one draft make two: their names, or "" for all.
	Repeatable []string
	// Shows are the requests that make a post visible; all but GET by default.
	Shows func(Request) bool
	// Duplicates says that the network refuses the same text twice within a day.
	Duplicates bool
	Again      time.Duration // after which the same text is accepted again; 0 for never
	// Fits are what is asked of the library for the posts, in turn.
	Fits     []network.Fit
	Checks   map[string]Checked
	Refusals map[string]Refusal
	Drafts   []string // that are not this network's, or not ready, besides the obvious ones
	Expiry   Expiry
}

// Content is a form of posts.
type Content struct {
	Name    string
	Text    string                         // a text with everything in it by default
	Media   func(*Library) []network.Media // nil for none
	Format  string                         // in Figures
	Settled time.Duration                  // after which a post that is not found was not published; 0 if that is certain at once
	Local   bool                           // Prepare sends nothing
	// Elsewhere says that it is listed under another id and address.
	Elsewhere bool
	// Variant says that it is published by the same calls as another one, so that only what it shows is tested.
	Variant bool
	// MarkedEarly says that the sandbox's markers act when it is prepared, too.
	MarkedEarly bool
	Begins      string // part of the request that begins its upload
	Uploads     int    // such requests for one draft
}

// Checked is a post, and the codes of the problems that Check finds in it, with a ! if they block.
type Checked struct {
	Text  string
	Media []network.Media
	Want  []string
}

// Refusal is a post that is not accepted.
type Refusal struct {
	Text   string
	Media  func(*Library) []network.Media
	Class  network.Class
	Code   string
	Commit bool // it is refused at or after the commit
}

// Marker is what a marker in the text makes of commits in a row.
type Marker struct {
	Want []network.Class
	Held int
}

// Expiry is what becomes of a draft that is committed late.
type Expiry struct {
	Post    int // of Posts
	After   time.Duration
	Commit  string // code of the commit's error
	Resolve string // code of the reason that Resolve gives
}

// Signing is how accounts are connected and grants renewed.
type Signing struct {
	Kinds      []string // ways of signing in
	Pick       int      // of the candidates, which is connected
	Account    string   // its name in the sandbox, if it is not the person's
	Candidates func(found []network.Candidate, url, kind string) []network.Candidate
	// Passwords says that accounts are connected by a password, not in a browser.
	Passwords  bool
	BadCode    string        // code of the error for a code that is not accepted
	CodeLife   time.Duration // of a code
	CodeSuffix string        // that a code may come with
	PKCE       bool

	Life          time.Duration // of an access token
	Renew         time.Duration // when it is renewed
	Lasting       bool          // an access token of a published account does not end
	Old           Expected      // answers to an access token that is over; the zero value if it is renewed before
	Unknown       Expected      // answers to an access token that never was
	ResolveSigned bool          // Resolve needs an access token
	Dead          string        // code of the error for a refresh token that is over
	Rotates       bool          // a renewal gives another refresh token, also if the old one stays good
	Once          bool          // a refresh token is good once
	Ends          time.Duration // after which the renewed grant is over; 0 for never
	Recent        time.Duration // until which a token is too young to be renewed
	Revoked       string        // code of the error for the refresh token of a revoked grant; "" if the network cannot revoke
	RevokedTwice  network.Class // of a second call
}

// Expected is an error that is expected.
type Expected struct {
	Class network.Class
	Code  string
}

// Failures are a network's errors, and what follows from them.
type Failures struct {
	Grant network.Grant // for a Stub, which completes it
	// Before answers the requests that are not those to fail; it reports whether it did.
	Before  func(w http.ResponseWriter, r *http.Request) bool
	Calls   []Call
	Quote   func(message string) Answer // a refusal with a message
	Errors  map[string]Failure
	Repeats map[string]Repeat
	Looks   map[string]Look
	// Nothing are answers that list no posts, by the draft that is looked for.
	Nothing map[string]http.Handler
	GivesUp map[string]GiveUp
}

// Collecting is what a network tells of an account's posts.
type Collecting struct {
	Told          []string      // figures of a post
	Maybe         []string      // figures that are told if they are above 0
	Silent        bool          // it does not tell the followers
	Page          int           // posts of a page; 0 for no test of pages
	Waits         time.Duration // until figures are there
	Fails         func(now time.Time) map[string]CollectFailure
	Withheld      map[string]Withheld
	WithheldPosts int // 2 by default
}

func (c Case) kinds() []string {
	if len(c.Kinds) == 0 {
		return []string{""}
	}
	return c.Kinds
}

func (c Case) account() string {
	if c.Account == "" {
		return Account
	}
	return c.Account
}

// Run is the conformance suite.
func Run(t *testing.T, c Case) {
	t.Helper()
	for _, part := range []struct {
		name string
		run  func(*testing.T, Case)
	}{
		{"Signing", testSigning}, {"Publishing", testPublishing}, {"Failures", testFailures}, {"Collecting", testCollecting}, {"Containers", testContainers},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.run(t, c)
		})
	}
}

// subtests runs tests in parallel.
func subtests(t *testing.T, c Case, tests map[string]func(*testing.T, Case)) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// each runs a test for each entry of a table, in parallel.
func each[V any](t *testing.T, table map[string]V, test func(*testing.T, V)) {
	t.Helper()
	for name, value := range table {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, value)
		})
	}
}
