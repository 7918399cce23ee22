package networktest

import (
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Case describes an adapter to the conformance suite.
type Case struct {
	Publishing
	Signing
	Failures
	Collecting

	Platform string
	// New returns the adapter for a network at the URL base.
	New          func(base string, app network.App) network.Network
	App          network.App               // only ListingDelay; the suite sets the other fields
	CheckTraffic func(*testing.T, Request) // checks each request to the sandbox and its response; may be nil
	Containers   Containers                // the zero value if the network has none
	IsDescribed  func(Request) bool        // whether CheckTraffic covers a request; may be nil
	Partial      bool                      // covers only a part of the network; Verify needs a case that covers all of it
	RealServer   map[string]bool           // capabilities that are also tested with the network's real server
}

// Publishing describes how a network publishes.
type Publishing struct {
	Posts            []Content          // kinds of posts; the first is the usual one
	CommitOpensFiles bool               // Commit opens or links the files
	PendingIDs       bool               // before publication, a post has a different ID and its outcome may remain unknown
	Publishes        func(Request) bool // reports whether a request makes a post visible; by default all except GET do
	// class of the error for a second commit of a draft; "" if the second commit returns the same receipt
	SecondCommit   network.ErrorClass
	Repeatable     []string             // names of Posts for which two commits create two posts; "" for all
	Duplicates     bool                 // the network rejects a repeated text
	DuplicateAfter time.Duration        // time after which the network accepts a repeated text; 0 for never
	FileLimits     []network.FileLimits // limits passed to the library, without duplicates, in the order of Posts
	Checks         map[string]CheckCase
	Rejections     map[string]Rejection
	Drafts         []string // more drafts to be rejected: of other networks, or not prepared
	Expiry         Expiry
}

// Content is a kind of post.
type Content struct {
	Name   string
	Text   string                         // by default fullText
	Media  func(*Library) []network.Media // nil for a post without media
	Format string                         // expected CollectedPost.Format
	// Options makes the post a story, for example.
	Options network.Options
	// time after which a missing post counts as absent; 0 for immediately
	AbsentAfter     time.Duration
	UploadStart     string // part of the Line of a request that starts an upload
	Uploads         int    // number of uploads for one draft; 1 by default
	LocalPrepare    bool   // Prepare sends no request
	ListedElsewhere bool   // lists show a different ID and URL than the receipt
	// Variant marks a post that differs from another only in content. The suite only checks that it is published.
	Variant     bool
	MarkedEarly bool // the sandbox's markers also affect Prepare
	NoText      bool // the text is not sent, so that the sandbox's markers have no effect
	Uncollected bool // Collect does not return the post
}

// CheckCase is a post and the codes of the problems that Check must find. Codes of blocking problems begin with !.
type CheckCase struct {
	Text    string
	Media   []network.Media
	Options network.Options
	Want    []string
}

// Rejection is a post that is rejected.
type Rejection struct {
	Text    string
	Media   func(*Library) []network.Media
	Options network.Options
	Class   network.ErrorClass
	Code    string
	Commit  bool // rejected by Commit or later, not by Prepare
}

// Marker is the effect of a sandbox marker in a post's text.
type Marker struct {
	Want  []network.ErrorClass // errors of consecutive commits
	Posts int                  // number of posts at the end
}

// Expiry describes a draft that is committed too late.
type Expiry struct {
	Post    int           // index in Posts
	After   time.Duration // 0 if drafts do not expire
	Commit  string        // code of the commit's error
	Resolve string        // code of Resolve's error
}

// Signing describes how accounts are connected and grants refreshed.
type Signing struct {
	Passwords      bool     // accounts are connected with a password, not in a browser
	Kinds          []string // sign-in methods; "" by default
	CandidateIndex int      // index of the candidate to connect; the last one is used if there are fewer
	Account        string   // name of the connected account in the sandbox, if not the person's
	Candidates     func(candidates []network.Candidate, url, kind string) []network.Candidate
	BadCode        string        // code of the error for a rejected authorization code
	CodeLifetime   time.Duration // lifetime of an authorization code
	CodeSuffix     string        // suffix that an authorization code may have
	PKCE           bool          // the network checks the verifier

	TokenLifetime         time.Duration // lifetime of a refreshed access token; 0 if unknown
	RefreshAge            time.Duration // age at which the grant is refreshed
	MinRefreshAge         time.Duration // age below which the network does not refresh the token
	ExpiredTokenError     ExpectedError // error for an expired access token; zero if the token is always refreshed in time
	UnknownTokenError     ExpectedError // error for an unknown access token
	TokenNeverExpires     bool          // access tokens do not expire
	ResolveNeedsToken     bool          // Resolve needs a valid access token
	SingleUseRefreshToken bool          // a refresh token can be used once
	RotatesRefresh        bool          // a refresh returns a new refresh token; the old one remains valid
	GrantLifetime         time.Duration // time after which a refreshed grant expires; 0 for never
	ExpiredRefresh        string        // code of the error for an expired refresh token
	// code of the error for a revoked refresh token; "" if the network cannot revoke
	RevokedCode      string
	SecondRevocation network.ErrorClass // class of the error of a second revocation
}

// ExpectedError is an expected error.
type ExpectedError struct {
	Class network.ErrorClass
	Code  string
}

// Failures describes a network's errors and how the adapter handles them.
type Failures struct {
	Grant network.Grant // grant of a Stub, without the server and the tokens
	// handles the requests that have to succeed before the failure, and reports whether it handled r
	Before     func(w http.ResponseWriter, r *http.Request) bool
	Calls      []Call                            // calls that are made with each failure
	Quote      func(message string) StubResponse // returns an error response with a message
	Errors     map[string]Failure                // responses to all Calls
	RetryTimes map[string]RetryTimeCase          // error responses with a retry time
	Resolves   map[string]ResolveCase            // outcomes of Resolve
	EmptyLists map[string]http.Handler           // responses without posts, by draft
	GiveUps    map[string]GiveUpCase             // drafts that never become ready
}

// Collecting describes the metrics of an account's posts.
type Collecting struct {
	Metrics         []string      // metrics that every post has
	OptionalMetrics []string      // metrics that are reported only if above 0
	NoFollowers     bool          // the network does not report followers
	NoPicture       bool          // the network returns no link to the account's picture
	PageSize        int           // posts per page; 0 if pages are not tested
	MetricsAfter    time.Duration // delay until a post has metrics
	CollectFailures func(now time.Time) map[string]CollectFailure
	Withheld        map[string]WithheldCase
	WithheldPosts   int // 2 by default
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

// Run runs the conformance suite.
func Run(t *testing.T, c Case) {
	t.Helper()
	subtests(t, c, map[string]func(*testing.T, Case){
		"Signing": testSigning, "Publishing": testPublishing, "Threads": testThreads, "FirstComments": testFirstComments,
		"Failures": testFailures, "Collecting": testCollecting,
		"Containers": testContainers, "Checking": testChecking, "Verification": testVerification,
	})
}

// subtests runs tests in parallel.
func subtests(t *testing.T, c Case, tests map[string]func(*testing.T, Case)) {
	t.Helper()
	runEach(t, tests, func(t *testing.T, test func(*testing.T, Case)) { test(t, c) })
}

// runEach runs a parallel subtest for each entry of a table.
func runEach[V any](t *testing.T, table map[string]V, test func(*testing.T, V)) {
	t.Helper()
	for name, value := range table {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, value)
		})
	}
}

// WithApp returns the case with a suffix added to the app's client ID. Some suffixes restrict the app in the sandbox,
// such as the one for an unaudited app.
func (c Case) WithApp(suffix string) Case {
	build := c.New
	c.New = func(base string, app network.App) network.Network {
		app.ClientID += suffix
		return build(base, app)
	}
	return c
}
