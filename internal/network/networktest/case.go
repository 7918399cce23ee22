package networktest

import (
	"net/http"
	"testing"
	"time"

	"pressroom/internal/network"
)

// Case is what the conformance suite has to know of an adapter.
type Case struct {
	Publishing
	Signing
	Failures
	Collecting

	Platform string
	// New makes the adapter of a network whose hosts are below an address.
	New        func(base string, app network.App) network.Network
	App        network.App               // its Settled is the adapter's; the rest is the suite's
	Wire       func(*testing.T, Request) // checks each request to the sandbox and its answer; may be nil
	Containers Containers                // the zero value if the network has none
}

// Publishing is how a network publishes.
type Publishing struct {
	Posts       []Content          // forms of posts; the first is the usual one
	CommitReads bool               // Commit needs the files
	PendingIDs  bool               // until a post is public, its receipt has another id, and its fate may stay unknown
	Shows       func(Request) bool // the requests that make a post visible; all but GET by default
	// Another is the class of the second of two commits of one draft: "" if it gives the same receipt.
	Another    network.Class
	Repeatable []string      // the names of posts of which two commits make two; "" for all
	Duplicates bool          // the network refuses the same text twice
	Again      time.Duration // after which it accepts the text again; 0 for never
	Fits       []network.Fit // that the library is asked for, each once, in the order of Posts
	Checks     map[string]Checked
	Refusals   map[string]Refusal
	Drafts     []string // that are not this network's or not ready, besides the obvious ones
	Expiry     Expiry
}

// Content is a form of posts.
type Content struct {
	Name   string
	Text   string                         // a text with everything in it by default
	Media  func(*Library) []network.Media // nil for none
	Format string                         // in Figures
	// after which a post that is not found was not published; 0 if that is certain at once
	Settled   time.Duration
	Begins    string // part of the request that begins an upload
	Uploads   int    // such requests for one draft; 1 by default
	Local     bool   // Prepare sends nothing
	Elsewhere bool   // it is listed under another id and address
	// Variant says that it is published by the same calls as another form, so that only what it shows is tested.
	Variant     bool
	MarkedEarly bool // the sandbox's markers also act when it is prepared
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
	Held int // posts in the end
}

// Expiry is what becomes of a draft that is committed too late.
type Expiry struct {
	Post    int           // of Posts
	After   time.Duration // 0 if drafts do not expire
	Commit  string        // code of the commit's error
	Resolve string        // code of the reason that Resolve gives
}

// Signing is how accounts are connected and grants renewed.
type Signing struct {
	Passwords  bool     // accounts are connected by a password, not in a browser
	Kinds      []string // ways of signing in; "" by default
	Pick       int      // of the candidates, which is connected
	Account    string   // its name in the sandbox, if it is not the person's
	Candidates func(found []network.Candidate, url, kind string) []network.Candidate
	BadCode    string        // code of the error for a code that is not accepted
	CodeLife   time.Duration // of a code
	CodeSuffix string        // that a code may come with
	PKCE       bool          // the network checks the verifier

	Life          time.Duration // of a renewed access token; 0 if it is not told
	Renew         time.Duration // when it is renewed
	Recent        time.Duration // until when it is too young to be renewed
	Old           Expected      // the error for an access token that is over; the zero value if it is renewed before
	Unknown       Expected      // the error for an access token that never was
	Lasting       bool          // the access token of an account does not end
	ResolveSigned bool          // Resolve needs an access token
	Once          bool          // a refresh token is good once
	Rotates       bool          // a renewal gives another refresh token, though the old one stays good
	Ends          time.Duration // after which a renewed grant is over; 0 for never
	Dead          string        // code of the error for a refresh token that is over
	// code of the error for the refresh token of a revoked grant; "" if the network cannot revoke
	Revoked      string
	RevokedTwice network.Class // of the second of two revocations
}

// Expected is an expected error.
type Expected struct {
	Class network.Class
	Code  string
}

// Failures are a network's errors, and what follows from them.
type Failures struct {
	Grant network.Grant // of a Stub, which completes it
	// answers the requests that are not to fail; reports whether it did
	Before  func(w http.ResponseWriter, r *http.Request) bool
	Calls   []Call                      // that fail in every way
	Quote   func(message string) Answer // a refusal with a message
	Errors  map[string]Failure          // answers to all Calls
	Repeats map[string]Repeat           // when a call may be repeated
	Looks   map[string]Look             // what is found of a draft
	Nothing map[string]http.Handler     // answers that list no posts, by the draft that is looked for
	GivesUp map[string]GiveUp           // what never becomes ready
}

// Collecting is what a network tells of an account's posts.
type Collecting struct {
	Told          []string      // figures of a post
	Maybe         []string      // figures that are told only above 0
	Silent        bool          // the followers are not told
	Page          int           // posts of a page; 0 if pages are not tested
	Waits         time.Duration // until there are figures
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
	subtests(t, c, map[string]func(*testing.T, Case){
		"Signing": testSigning, "Publishing": testPublishing, "Failures": testFailures, "Collecting": testCollecting,
		"Containers": testContainers,
	})
}

// subtests runs tests in parallel.
func subtests(t *testing.T, c Case, tests map[string]func(*testing.T, Case)) {
	t.Helper()
	each(t, tests, func(t *testing.T, test func(*testing.T, Case)) { test(t, c) })
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
