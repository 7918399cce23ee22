package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Containers implements the publishing protocol that Threads and Instagram share. Prepare creates a container, which is
// not visible, and the network fetches and processes its media. Commit publishes the container. A container can be
// published only once and reports whether it was published, so a lost response cannot lead to two posts.
//
// Sources: https://developers.facebook.com/docs/threads/posts,
// https://developers.facebook.com/docs/instagram-platform/content-publishing
type Containers struct {
	Client  *Client
	App     network.App // with defaults
	Version string      // API version
	Names   Names

	// Secret returns the app's secret if calls with the grant need an appsecret_proof. Otherwise, it returns "". Secret
	// may be nil.
	Secret func(network.Grant) string
	// MediaParams returns a container's parameters for one image or video. address is the URL of the file. inCarousel
	// is true if the post has several media items.
	MediaParams func(o network.Options, m network.Media, address string, inCarousel bool) url.Values
	Options     OptionHooks
	// FailureReason converts the network's description of a failed container to an error. It also reports whether a new
	// container may succeed.
	FailureReason func(description string) (reason *network.Error, retryable bool)
	// Observe is called after each attempt to create a post's container. Its arguments are the post's text, and the
	// error, which is nil on success. Observe may be nil.
	Observe func(text string, err error)
}

// OptionHooks applies a network's options. All fields may be nil.
type OptionHooks struct {
	// FilterOptions returns only the options for this network.
	FilterOptions func(network.Options) network.Options
	// Check returns problems with the options of a post.
	Check func(network.Content) []network.Problem
	// Cover returns the media ID of the post's cover image, or 0 if the options do not select one.
	Cover func(o network.Options, media []network.Media) int64
	// Params returns the parameters that the options add to a post's container. cover is the URL of the cover image, or
	// "".
	Params func(o network.Options, media []network.Media, cover string) url.Values
	// ItemParams returns the parameters that the options add to the container for one of several media items.
	ItemParams func(o network.Options, media []network.Media, item int) url.Values
}

// Names holds a network's names for paths, edges and fields.
type Names struct {
	Platform string // name in pressroom's API
	Title    string // name to display
	Owner    string // path of the account; if empty, the account's ID
	Edge     string // edge that creates containers and lists posts
	Publish  string // edge that publishes containers
	Replies  string // edge that lists the account's replies; empty if accounts cannot reply to their posts
	Stories  string // edge that lists the account's stories; empty if the network has no stories
	Text     string // text field of a container and of a post
	State    string // state fields of a container
}

// draft is the stored state of a publication.
type draft struct {
	Network   string          `json:"network"` // distinguishes drafts of different networks
	Text      string          `json:"text"`
	Options   network.Options `json:"options,omitzero"`
	ReplyTo   string          `json:"reply_to,omitempty"` // ID of the post that this post replies to
	Media     []network.Media `json:"media,omitempty"`
	Items     []string        `json:"items,omitempty"`     // containers of a carousel's media, in order
	Container string          `json:"container,omitempty"` // the container that Commit publishes
	CreatedAt time.Time       `json:"made,omitzero"`       // when the newest containers were created
	Replaced  int             `json:"builds,omitempty"`    // number of times that containers were replaced
	// number of commits that failed because the network did not find the container
	NotVisibleCount int `json:"not_visible,omitempty"`
}

// Platform returns the network's name in the API.
func (c *Containers) Platform() string { return c.Names.Platform }

// Check returns what the network would reject, or accept only with changes.
func (c *Containers) Check(content network.Content) []network.Problem {
	return c.CheckWith(*c.App.Rules, content)
}

// CheckWith is like Check, but applies the given limits.
func (c *Containers) CheckWith(rules network.Rules, content network.Content) []network.Problem {
	var problems []network.Problem
	if content.Options.IsStory(c.Names.Platform) {
		problems = rules.CheckStory(content)
	} else {
		problems = rules.Check(content)
	}
	if c.Options.Check != nil {
		problems = append(problems, c.Options.Check(content)...)
	}
	return problems
}

// isStory reports whether the draft is a story.
func (c *Containers) isStory(d draft) bool { return d.Options.IsStory(c.Names.Platform) }

// Rules returns the limits that Check applies.
func (c *Containers) Rules() network.Rules { return *c.App.Rules }

// Connect always returns an error, because the network does not support signing in with a password.
func (c *Containers) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.PermanentError(fmt.Errorf("connect %s accounts in a browser", c.Names.Title))
}

// Plan fixes the text, the media and the options. A story has no text. Repeated commits are safe, because they all
// publish the same container, which Prepare creates.
func (c *Containers) Plan(i network.Submission) (network.Draft, error) {
	d := draft{Network: c.Names.Platform, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media}
	if c.Options.FilterOptions != nil {
		d.Options = c.Options.FilterOptions(i.Content.Options)
	}
	if c.isStory(d) {
		d.Text = ""
	}
	if i.Reply != nil {
		d.ReplyTo = i.Reply.Parent
	}
	return c.drafts().Plan(d)
}

func (c *Containers) drafts() network.DraftCodec[draft] {
	return network.DraftCodec[draft]{Kind: "a post on " + c.Names.Title, Validate: c.validate, IsPrepared: func(d draft) bool {
		return IsID(d.Container)
	}}
}

func (c *Containers) validate(d draft) error {
	if d.Network != c.Names.Platform {
		return fmt.Errorf("the draft does not belong to %s", c.Names.Title)
	}
	if d.ReplyTo != "" && (c.Names.Replies == "" || !IsID(d.ReplyTo)) {
		return fmt.Errorf("the draft cannot reply to a post on %s", c.Names.Title)
	}
	return nil
}

// NewCall returns a call to the versioned API with an account's token.
func (c *Containers) NewCall(g network.Grant, method, path string, params url.Values, out any) Call {
	call := Call{
		Method: method, Server: g.Server, Path: c.Version + "/" + path, Token: g.AccessToken, Params: params, Out: out,
	}
	if c.Secret != nil {
		call.Secret = c.Secret(g)
	}
	return call
}

// ownerPath returns the path of one of the account's edges.
func (c *Containers) ownerPath(g network.Grant, edge string) string {
	return cmp.Or(c.Names.Owner, g.Account) + "/" + edge
}

// The states of a container.
const (
	stateInProgress = "IN_PROGRESS"
	stateFinished   = "FINISHED"
	statePublished  = "PUBLISHED"
	stateError      = "ERROR"
	stateExpired    = "EXPIRED"
)

// container is the network's description of a container.
type container struct {
	state  string
	reason string // the network's description
}

// readState reads a container's state. Instagram returns the state in status_code and a description in status. Threads
// returns the state in status and a description of the error in error_message.
func (c *Containers) readState(ctx context.Context, g network.Grant, id string) (container, error) {
	var response struct {
		Code    string `json:"status_code"`
		Status  string `json:"status"`
		Message string `json:"error_message"`
	}
	err := c.Client.Do(ctx, c.NewCall(g, http.MethodGet, id, url.Values{"fields": {c.Names.State}}, &response))
	if response.Code != "" {
		return container{response.Code, response.Status}, err
	}
	return container{response.Status, response.Message}, err
}

var errUnknownState = errors.New("reading a container: the response has no known state")
