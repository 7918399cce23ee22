// Package network defines the interface to social networks: how posts are checked, prepared and published, how an
// account's grant is refreshed, and which classes of error a network returns.
//
// Each network is implemented in a subpackage that uses the network's official protocol over HTTP. These packages do
// not depend on teams, stored posts, databases or queues. They get all their input as arguments, and return all their
// output as results.
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

// Content is what one account publishes: the post's content with the account's overrides.
type Content struct {
	Text      string
	Title     string   // of the post itself; see TitleOn
	Languages []string // BCP 47, the most important first
	Media     []Media  // in display order
	Options   Options  // settings for individual networks
	Account   string   // ID of the account on the network; empty if unknown
}

// Media is one image or video of a post, as the media library describes it.
type Media struct {
	ID       int64         `json:"id"` // ID in the library
	Name     string        `json:"-"`
	Kind     string        `json:"kind"`
	Type     string        `json:"type"` // MIME
	Size     int64         `json:"size"` // bytes
	Width    int           `json:"width"`
	Height   int           `json:"height"`
	Duration time.Duration `json:"duration,omitempty"` // of a video
	Alt      string        `json:"alt,omitempty"`      // alt text
	// offset of a video's cover frame; with 0, the network chooses the frame
	Cover time.Duration `json:"cover,omitempty"`
	Gone  bool          `json:"-"` // the file was deleted, and only this description remains
}

// The kinds of media.
const (
	Image = "image"
	Video = "video"
)

// FileLimits are a network's limits on one file. An image that exceeds the limits is converted or made smaller. A video
// is never converted, so Check rejects it.
type FileLimits struct {
	Types    []string // MIME; empty allows every type
	MaxBytes int64    // 0 means no limit
	MaxSide  int      // pixels of the longer side; 0 means no limit
}

// File is an image or a video ready to be uploaded.
type File struct {
	io.ReadCloser

	Type          string // MIME
	Size          int64  // bytes
	Width, Height int    // pixels, after rotation
}

// Files gives access to the bytes of a post's media.
type Files interface {
	// Link returns a URL from which the network can fetch a media item until expires. The item is converted in the same
	// way as by Open.
	Link(ctx context.Context, id int64, limits FileLimits, expires time.Time) (string, error)
	// Open opens a media item, converted to fit the limits. If the item was deleted or cannot be converted, the error
	// is a *Error of the class RejectedMedia.
	Open(ctx context.Context, id int64, limits FileLimits) (File, error)
}

// Problem is something that a network would reject, or accept only with changes. Check finds it without a request.
type Problem struct {
	Code     string // a validation code of the API, such as caption_too_long
	Blocking bool   // the network would reject the post
	Field    string // title, or the option to change, such as options.x.poll; "" for the text and the media
	Message  string // for people: the limit and what to do
}

// Grant is the authorization to act for one account. It is stored encrypted.
type Grant struct {
	Server       string `json:"server"`   // base URL of the account's API
	Account      string `json:"account"`  // the network's own ID of the account
	Username     string `json:"username"` // the account's name to display
	AccessToken  string `json:"access"`   // access token
	RefreshToken string `json:"refresh"`  // refresh token

	// one of the network's sign-in methods or account types
	Kind string `json:"kind,omitempty"`
	// when the access token expires; zero if unknown
	Expires time.Time `json:"expires,omitzero"`
	// when the refresh token expires; zero if unknown
	RefreshExpires time.Time         `json:"refresh_expires,omitzero"`
	Scopes         []string          `json:"scopes,omitempty"` // scopes that the person granted
	Extra          map[string]string `json:"extra,omitempty"`  // other data that the network needs, such as a board
	// Holder names the person who gave consent, as network:ID. Revoking one grant of a holder revokes all grants of
	// that holder. Holder is empty if it is unknown or if each grant is revoked separately.
	Holder string `json:"holder,omitempty"`
}

// Authorizer is a network whose accounts are connected in a browser by OAuth 2.0 (RFC 6749).
type Authorizer interface {
	Network
	// Kinds returns the sign-in methods for which the operator has configured an app, the preferred one first. A
	// network with only one method returns only "".
	Kinds() []string
	// Authorize returns the URL of the consent page.
	Authorize(a Authorization) string
	// Exchange trades an authorization code for the accounts that it gives access to, each with its grant. If some
	// accounts may be missing from the result, it also returns ErrMoreAccounts or ErrUnreadAccounts.
	Exchange(ctx context.Context, a Authorization, code string) ([]Candidate, error)
}

var (
	// ErrMoreAccounts means that a person may have more accounts than Exchange could read.
	ErrMoreAccounts = errors.New("the network may have more accounts of this person")
	// ErrUnreadAccounts means that Exchange could not read some lists of a person's accounts because of a temporary
	// error.
	ErrUnreadAccounts = errors.New("the network failed to list some accounts of this person")
)

// Authorization holds the parameters of one visit to a network's consent page.
type Authorization struct {
	Kind     string // one of Kinds
	State    string // returned with the code
	Verifier string // PKCE code verifier (RFC 7636), for networks that support it
	Redirect string // redirect URI, identical in both calls
}

// Defaulter is a network whose settings contain default options for posts that have no options.
type Defaulter interface {
	DefaultOptions() Options
}

// Revoker is a network on which a grant can be revoked. If the grant has a Holder, all grants of that holder are
// revoked. The error is of class ReconnectRequired if the grant was already invalid, and ErrRevokeUnsupported if the
// network cannot revoke the grant.
type Revoker interface {
	Revoke(ctx context.Context, g Grant) error
}

// ErrRevokeUnsupported means that only the person can revoke the grant, on the network's website.
var ErrRevokeUnsupported = errors.New("the network does not let an app revoke this grant")

// Candidate is an account that a person may connect.
type Candidate struct {
	Grant       Grant
	DisplayName string // chosen by the account's owner: untrusted
}

// Credentials is the data that a person enters to connect an account without a consent page.
type Credentials struct {
	Server     string // base URL of the account's server
	Identifier string // handle or email address
	Password   string // an app password, never stored
}

// Submission is one request to publish a publication.
type Submission struct {
	Seed             string    // permanent name of the publication
	FirstSubmittedAt time.Time // time of the first submission; together with Seed, it determines the key on the network
	At               time.Time // time of this submission, later than FirstSubmittedAt for a retry
	Content          Content
	Reply            *Reply // the post that the publication replies to; nil if it is not a reply
}

// Reply identifies the post that a part of a thread replies to. Root and Parent are values of Receipt.ID.
type Reply struct {
	Root   string `json:"root"`   // first post of the thread
	Parent string `json:"parent"` // the post that is replied to
}

// Draft is JSON in the network's own format. It contains all parameters of a publication that must not change when a
// request is repeated. It is stored before the call that uses it, so that another process can repeat the same request.
type Draft = json.RawMessage

// Receipt describes a published post.
type Receipt struct {
	ID        string    `json:"id"`        // the network's own ID of the post
	Permalink string    `json:"permalink"` // empty if it has to be requested later
	At        time.Time `json:"at"`        // time of publication; zero if unknown
	// the post was found by its content and may belong to another publication with the same content
	MatchedByContent bool `json:"-"`
}

// Verdict is the result of asking a network whether a publication exists.
type Verdict int

// The verdicts.
const (
	Unknown   Verdict = iota // not determined
	Published                // the post exists exactly once
	Absent                   // the post is not visible, and committing the same Draft again creates at most one post
)

// CommitHistory describes earlier commits of a Draft whose outcome is not known.
type CommitHistory struct {
	First time.Time // time of the first commit
	// Last is the time of the last commit or lookup that got no response. Shortly after this time, the network may not
	// list a post although it exists.
	Last time.Time
	// Undecided is true if a commit may still take effect, because it got no response or an OutcomeUnknown error.
	Undecided bool
	// OtherPosts lists the IDs and permalinks of the account's posts that belong to other publications. A search for a
	// post by its text must skip these posts.
	OtherPosts []string
}

// BelongsToOther reports whether the post with this ID or permalink belongs to another publication.
func (h CommitHistory) BelongsToOther(id, permalink string) bool {
	return slices.ContainsFunc(h.OtherPosts, func(other string) bool {
		return other != "" && (other == id || other == permalink)
	})
}

// Network is one social network's publishing protocol. The errors of all methods that send requests are of type *Error.
type Network interface {
	// Platform returns the network's name in the API, such as "bluesky".
	Platform() string
	// Check returns what the network would reject, or accept only with changes. It does not send a request.
	Check(Content) []Problem
	// Plan fixes the parameters that must stay the same in a repeated request, such as the record key and the creation
	// time. Plan does not send a request and is deterministic. The same Seed and FirstSubmittedAt yield the same key on
	// the network, so two submissions of one publication cannot create two posts. A network that does not let clients
	// choose keys creates one post per Draft.
	Plan(i Submission) (Draft, error)
	// Prepare uploads media and does everything else that can be done before publishing. It does not publish anything,
	// and may be repeated. The returned Draft replaces d. If the returned duration is above 0, the network is still
	// processing the media. Call Prepare again with the new Draft after that time.
	Prepare(ctx context.Context, g Grant, d Draft, files Files) (Draft, time.Duration, error)
	// Commit makes the publication visible. If the error is of class OutcomeUnknown or Processing, the publication may
	// be visible, so call Resolve. After a Duplicate error, Resolve determines whether an earlier Commit created the
	// post. Commit reads files only on networks that publish a post as soon as its upload ends.
	Commit(ctx context.Context, g Grant, d Draft, files Files) (Receipt, error)
	// Resolve reports whether an earlier Commit of this Draft took effect. It does not change anything on the network.
	// With Unknown, it always returns an error, which is of class Processing if the network has not decided. After
	// Absent without an error, an earlier request may still arrive. Commit the same Draft again, and never use a new
	// Plan. Absent with an error means that the network rejected the publication for that reason.
	Resolve(ctx context.Context, g Grant, d Draft, history CommitHistory) (Verdict, Receipt, error)
	// Permalink returns the URL of a publication whose Receipt has no permalink. The URL is empty if the network does
	// not know it yet. Permalink does not change anything on the network, and callers may ignore its error.
	Permalink(ctx context.Context, g Grant, r Receipt) (string, error)
	// Connect returns a Grant for the credentials that a person entered.
	Connect(ctx context.Context, c Credentials) (Grant, error)
	// Refresh uses the refresh token of g to return a new Grant.
	Refresh(ctx context.Context, g Grant) (Grant, error)
}

// ErrorClass determines how a network's error is handled.
type ErrorClass string

// The classes.
const (
	ReconnectRequired ErrorClass = "auth_dead"    // a person has to reconnect the account
	RefreshRequired   ErrorClass = "auth_refresh" // the caller refreshes the grant, then retries once
	RateLimited       ErrorClass = "rate"         // the caller retries after Error.RetryAt
	Transient         ErrorClass = "transient"    // the call had no effect; the caller retries with backoff
	OutcomeUnknown    ErrorClass = "uncertain"    // the call may have had an effect; Resolve must come before a retry
	// Processing means that the network has not decided, or cannot carry out the request yet. Call Resolve at
	// Error.RetryAt.
	Processing     ErrorClass = "processing"
	Rejected       ErrorClass = "rejected"       // content or settings are wrong; a retry would fail too
	RejectedMedia  ErrorClass = "rejected_media" // like Rejected, for an image or a video
	Duplicate      ErrorClass = "duplicate"      // the network already has the same content
	QuotaExceeded  ErrorClass = "quota"          // the caller retries in the network's next window, at Error.RetryAt
	AppNotApproved ErrorClass = "app"            // the operator's app lacks an approval
	// HostBlocked means that a local rule forbids calls to that server. Nothing was sent, and the network did not fail.
	HostBlocked ErrorClass = "barred"
)

// Error is a network's rejection, or the lack of a usable response.
type Error struct {
	Class   ErrorClass
	Status  int       // HTTP status; 0 if there was no response
	Code    string    // the network's own short code, such as "ExpiredToken"
	Message string    // the network's own text; untrusted
	RetryAt time.Time // earliest retry, for RateLimited, QuotaExceeded and Processing; zero if unknown
	Err     error     // for the log
	// for the classes Processing and OutcomeUnknown after a Commit: a Draft that replaces the old one, if Resolve needs
	// more data
	Draft Draft
	// for the class AppNotApproved: a post that exists on the network but is not visible. A retry continues with Draft.
	// Prepare then looks up the post before it sends anything, so that the post is never created twice.
	Hidden Receipt
	// base URL of the called server if it is not the account's server; its failures are counted separately
	Host string
}

// IsClientError reports whether the network responded with a 4xx status other than 408. Such a response shows that the
// network is available, but the post may still exist.
func (e *Error) IsClientError() bool {
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

// MissingPermissionError means that a sign-in lacks a permission. It is wrapped in an Error.
type MissingPermissionError struct {
	Permission string // as named by the network
	Effect     string // displayed to people: what does not work without the permission
	NextStep   string // displayed to people: who can grant it; empty if the person can allow it at the next sign-in
}

func (e *MissingPermissionError) Error() string {
	return "the permission " + e.Permission + " was not granted"
}

// PermissionMissing returns the error for a sign-in that lacks a permission. effect says what does not work without it.
func PermissionMissing(permission, effect string) *Error {
	return &Error{
		Class: ReconnectRequired, Status: http.StatusOK, Code: permission,
		Err: &MissingPermissionError{Permission: permission, Effect: effect},
	}
}

// RequireScopes returns an error if a needed permission was not granted. People can decline individual permissions on
// the consent page.
func RequireScopes(granted []string, needed ...string) error {
	for _, scope := range needed {
		if !slices.Contains(granted, scope) {
			return PermissionMissing(scope, "The permissions that you granted are not sufficient for publishing.")
		}
	}
	return nil
}
