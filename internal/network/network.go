// Package network says what a social network is to pressroom: how a post is checked, made ready and
// committed there, how an account's grant is renewed, and which classes of error a network can answer with.
//
// Each network is one folder below this one and speaks that network's official protocol over HTTP. A
// network knows nothing of teams, posts as records, databases or queues: everything it needs is in the
// arguments and everything it learns is in the results.
package network

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"
)

// Content is what is to stand on one account: the text after that account's overrides.
type Content struct {
	Text      string
	Languages []string // BCP 47, the most important first
	Media     []Media  // in the order in which they are to be shown
}

// Media is one image or video of a post, as the library describes it.
type Media struct {
	ID       int64         `json:"id"` // the library's
	Name     string        `json:"-"`
	Kind     string        `json:"kind"`
	Type     string        `json:"type"` // MIME
	Size     int64         `json:"size"` // bytes
	Width    int           `json:"width"`
	Height   int           `json:"height"`
	Duration time.Duration `json:"duration,omitempty"` // of a video
	Alt      string        `json:"alt,omitempty"`      // what it shows, for those who cannot see it
	// of a video: when its frame comes that stands for it; 0 for the network's choice
	Cover time.Duration `json:"cover,omitempty"`
	Gone  bool          `json:"-"` // a person has deleted the file: what is said here is all that is left of it
}

// The kinds of media.
const (
	Image = "image"
	Video = "video"
)

// Fit is what a network takes of a file. An image that does not fit is converted or made smaller; a video that does
// not is refused by Check, as it is never converted.
type Fit struct {
	Types    []string // MIME; every type where empty
	MaxBytes int64    // no bound where 0
	MaxSide  int      // longest side in pixels, no bound where 0
}

// File is an image or a video ready to be sent.
type File struct {
	io.ReadCloser

	Type          string // MIME
	Size          int64  // bytes
	Width, Height int    // pixels, as it is shown
}

// Files gives the bytes of a post's media.
type Files interface {
	// Link is an address at which the network can fetch a media item by itself until a time, made to fit as by Open.
	Link(ctx context.Context, id int64, fit Fit, until time.Time) (string, error)
	// Open opens a media item of the library, made to fit. What cannot be made to fit, or is gone, is a *Error of the
	// class RejectedMedia.
	Open(ctx context.Context, id int64, fit Fit) (File, error)
}

// Problem is something a network will not take, or will take only with a loss; found without reaching it.
type Problem struct {
	Code     string // a validation code of the contract, such as caption_too_long
	Blocking bool   // the network would refuse the post
	Message  string // one sentence for people
}

// Grant lets us act for one account. It is stored sealed.
type Grant struct {
	Server   string `json:"server"`   // base URL that the account's calls go to
	Account  string `json:"account"`  // the network's own id of the account
	Username string `json:"username"` // how the account is shown
	Access   string `json:"access"`   // access token
	Refresh  string `json:"refresh"`  // refresh token

	// which of the network's ways of signing in, or kinds of account
	Kind string `json:"kind,omitempty"`
	// of the access token; zero where it is not known
	Expires time.Time `json:"expires,omitzero"`
	// of the refresh token; zero where it is not known
	RefreshExpires time.Time         `json:"refresh_expires,omitzero"`
	Scopes         []string          `json:"scopes,omitempty"` // what the person allowed
	Extra          map[string]string `json:"extra,omitempty"`  // what else the network needs, such as a board
	// Holder says whose permission it is, as network:id. All grants of one holder end together. Empty where it is not
	// known, and where each grant ends by itself.
	Holder string `json:"holder,omitempty"`
}

// Authorizer is a network whose accounts are connected in a browser, by OAuth 2.0 (RFC 6749).
type Authorizer interface {
	Network
	// Kinds names the ways of signing in that the operator has an app for, the usual one first. A network that has but
	// one way calls it "".
	Kinds() []string
	// Authorize is the address at which a person consents.
	Authorize(a Authorization) string
	// Exchange trades the code that came back for the accounts that it opens, each with its grant.
	Exchange(ctx context.Context, a Authorization, code string) ([]Candidate, error)
}

// Authorization is one round trip to a network's consent page.
type Authorization struct {
	Kind     string // one of Kinds
	State    string // comes back with the code
	Verifier string // of PKCE (RFC 7636), for the networks that take it
	Redirect string // where the browser comes back to; the very same in both calls
}

// Revoker is a network that can be told that a grant is not to be good for anything any more. Where the grant has a
// Holder, all grants of that one end by it. AuthDead says that it was good for nothing already, and ErrNoMeans that the
// network has no way for such a grant.
type Revoker interface {
	Revoke(ctx context.Context, g Grant) error
}

// ErrNoMeans says that a grant is one of those that its network lets only the person take back.
var ErrNoMeans = errors.New("the network has no means for us to end this grant")

// Candidate is an account that a person may connect.
type Candidate struct {
	Grant       Grant
	DisplayName string // as the account calls itself: untrusted
}

// Credentials are what a person gives to connect an account without a browser.
type Credentials struct {
	Server     string // base URL of the account's server
	Identifier string // handle or e-mail
	Password   string // an app password, never kept
}

// Intent is one submission of one publication.
type Intent struct {
	Seed    string    // names the publication for ever
	First   time.Time // when it was first submitted; with the seed it makes what the network knows it by
	At      time.Time // when this submission was made: a retry after a failure is of a later time
	Content Content
}

// Draft is everything about one publication that a repeat must not change, as the network's own JSON. It is
// stored before the call that it is for, so that a process that takes over repeats the very same request.
type Draft = json.RawMessage

// Receipt is what the network says of a publication that stands.
type Receipt struct {
	ID        string    `json:"id"`        // the network's own id of the post
	Permalink string    `json:"permalink"` // empty where it has to be asked for afterwards
	At        time.Time `json:"at"`        // when it was published, as far as known
	// a look found it by what it shows: it is another publication's where that shows the same
	Alike bool `json:"-"`
}

// Verdict is what a network says when asked whether a publication stands.
type Verdict int

// The verdicts.
const (
	Unknown Verdict = iota // the network could not say
	Stands                 // it is there, once
	Absent                 // it is certainly not there, and committing the same Draft cannot make two
)

// Tried is how a Draft was committed without an answer that is known.
type Tried struct {
	First time.Time // when it was first committed
	// Last is when the network last left a commit, or a look, without an answer. One that is asked too soon after that
	// may not yet know what it has.
	Last time.Time
	// Others are posts of the account that are other publications' of ours, by the network's ids and by where they
	// stand: whoever looks for a post by its text is not to take one of these for it.
	Others []string
}

// Another tells whether what has this id, or stands there, is another publication's.
func (t Tried) Another(id, permalink string) bool {
	return slices.ContainsFunc(t.Others, func(other string) bool {
		return other != "" && (other == id || other == permalink)
	})
}

// Network is one social network's publishing protocol. Every method that reaches the network returns
// *Error for what the network said or for what kept it from saying it.
type Network interface {
	// Platform is the network's name in the contract, such as "bluesky".
	Platform() string
	// Check finds what the network would not take. It reaches no network.
	Check(Content) []Problem
	// Plan fixes what a repeat must not change (record key, creation time). It reaches no network. The same
	// Intent gives the same Draft, and one of the same Seed and First is known to the network by the same key,
	// so that two submissions of one publication can never both stand; a network that takes no key of ours makes one
	// post of one Draft.
	Plan(i Intent) (Draft, error)
	// Prepare makes the publication ready without showing anything, its media among it; it may be repeated. The Draft
	// it returns replaces the one given. A wait above 0 means that the network still works on something: Prepare is
	// called again after it, with that Draft.
	Prepare(ctx context.Context, g Grant, d Draft, files Files) (Draft, time.Duration, error)
	// Commit is the one call that makes the publication visible. Only an Uncertain or a Processing error may have had
	// an effect: after these the network is asked by Resolve. A network
	// that shows a post once the last of a file has arrived needs the files here too. Duplicate says that the network
	// holds the same content: whether that is of an earlier Commit without an answer is for Resolve to find.
	Commit(ctx context.Context, g Grant, d Draft, files Files) (Receipt, error)
	// Resolve asks the network whether an earlier Commit of this Draft took effect. It changes nothing. Unknown
	// always comes with an error, Processing where the network has not decided. After Absent without an error an
	// earlier call may still land, so what follows is a Commit of the same Draft, never a new Plan. Absent with an
	// error means that the network has given the publication up, for that reason.
	Resolve(ctx context.Context, g Grant, d Draft, t Tried) (Verdict, Receipt, error)
	// Permalink reads where a publication stands of which Commit or Resolve did not tell; empty where the network
	// does not tell yet. It changes nothing, and its failure fails nothing.
	Permalink(ctx context.Context, g Grant, r Receipt) (string, error)
	// Connect makes a Grant from what a person gave.
	Connect(ctx context.Context, c Credentials) (Grant, error)
	// Refresh trades a Grant's refresh token for a new Grant.
	Refresh(ctx context.Context, g Grant) (Grant, error)
}

// Class says what can be done about a network's error.
type Class string

// The classes.
const (
	AuthDead    Class = "auth_dead"    // a person has to connect the account again
	AuthRefresh Class = "auth_refresh" // refresh the grant once, then repeat once
	Rate        Class = "rate"         // repeat after Error.After
	Transient   Class = "transient"    // certainly had no effect; repeat with back-off
	Uncertain   Class = "uncertain"    // the request may have taken effect: ask, never repeat blindly
	// Processing says that the network has taken the publication and has not decided: ask again, at Error.After.
	Processing    Class = "processing"
	Rejected      Class = "rejected"       // content or settings are wrong; a repeat is refused again
	RejectedMedia Class = "rejected_media" // as Rejected, for an image or a video
	Duplicate     Class = "duplicate"      // the network holds the same content already
	Quota         Class = "quota"          // repeat in the network's next window, at Error.After
	Unapproved    Class = "app"            // the operator's app lacks an approval
	// our own guard does not call that server: nothing was sent, and no network failed
	Barred Class = "barred"
)

// Error is a network's refusal, or the want of an answer.
type Error struct {
	Class   Class
	Status  int       // HTTP status, 0 where there was no answer
	Code    string    // the network's own short code, such as "ExpiredToken"
	Message string    // the network's own text: untrusted, shown to people only as such
	After   time.Time // for Rate and Quota: not before; zero where the network did not say
	Err     error     // what happened on our side, for the log
	// of a Commit that is Processing: takes the place of the one given, where Resolve needs more than that
	Draft Draft
}

// Answered is true of a network that works: it refused, though in a way that may leave open what stands there.
func (e *Error) Answered() bool {
	return e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError &&
		e.Status != http.StatusRequestTimeout
}

func (e *Error) Error() string {
	text := string(e.Class)
	if e.Code != "" {
		text += ": " + e.Code
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }
