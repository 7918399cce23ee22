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

	"pressroom/internal/network"
)

// Containers is the way of publishing that Threads and Instagram share. A post is made in two steps. First a container
// is created: the network fetches the media from addresses that it is given and works on them, and nobody sees
// anything. Then the container is published. A container can be published once alone, and says whether it was, so no
// answer that is lost makes two posts.
type Containers struct {
	Client  *Client
	App     network.App // completed
	Version string      // of the API
	Words   Words

	// Show is the part of a container that is about one image or video at an address; several tells that it is one of
	// many.
	Show func(m network.Media, address string, several bool) url.Values
	// Failure is why the network gave a container up, by what it says of it, and whether a new one may mend that.
	Failure func(said string) (reason *network.Error, again bool)
}

// Words are what a network calls things.
type Words struct {
	Platform string // in the contract
	Title    string // for people
	Owner    string // whose posts they are, in paths; the account's id where empty
	Edge     string // where containers are made and posts are listed
	Publish  string // where containers are published
	Text     string // of a container and of a post
	State    string // fields of a container
}

// post is what is kept of a publication.
type post struct {
	Network   string          `json:"network"` // tells a draft of this network from others
	Text      string          `json:"text"`
	Media     []network.Media `json:"media,omitempty"`
	Items     []string        `json:"items,omitempty"`     // containers of a carousel's media, in their order
	Container string          `json:"container,omitempty"` // what is to be published
	Made      time.Time       `json:"made,omitzero"`       // when the newest containers were created
	Builds    int             `json:"builds,omitempty"`    // how often containers were created anew
}

// Platform is the network's name in the contract.
func (c *Containers) Platform() string { return c.Words.Platform }

// Check finds what the network would not take.
func (c *Containers) Check(content network.Content) []network.Problem {
	return c.App.Rules.Check(content)
}

// Takes is what it is checked by.
func (c *Containers) Takes() network.Rules { return *c.App.Rules }

// Connect always fails: there are no passwords here.
func (c *Containers) Connect(context.Context, network.Credentials) (network.Grant, error) {
	return network.Grant{}, network.Unusable(fmt.Errorf("an account on %s is connected in a browser", c.Words.Title))
}

// Plan fixes the text and the media. What makes two submissions one is the container, which Prepare keeps.
func (c *Containers) Plan(i network.Intent) (network.Draft, error) {
	return c.drafts().
		Plan(post{
			Network: c.Words.Platform, Text: strings.ToValidUTF8(i.Content.Text, "\uFFFD"), Media: i.Content.Media,
		})
}

func (c *Containers) drafts() network.Drafts[post] {
	return network.Drafts[post]{Of: "a post on " + c.Words.Title, Foreign: c.foreign, Prepared: func(p post) bool {
		return IsID(p.Container)
	}}
}

func (c *Containers) foreign(p post) error {
	if p.Network != c.Words.Platform {
		return fmt.Errorf("the draft is not that of a post on %s", c.Words.Title)
	}
	return nil
}

// On is a call of the versioned API by an account.
func (c *Containers) On(g network.Grant, method, path string, params url.Values, out any) Call {
	return Call{
		Method: method, Server: g.Server, Path: c.Version + "/" + path, Token: g.Access, Params: params, Out: out,
	}
}

// owned is where the account has something.
func (c *Containers) owned(g network.Grant, edge string) string {
	return cmp.Or(c.Words.Owner, g.Account) + "/" + edge
}

// The states of a container.
const (
	inProgress = "IN_PROGRESS"
	finished   = "FINISHED"
	published  = "PUBLISHED"
	failed     = "ERROR"
	expired    = "EXPIRED"
)

// container is what a network says of one.
type container struct {
	state  string
	reason string // why it failed
}

// status asks for a container. Instagram writes its state as a code, beside a status in words; Threads writes it as a
// status, beside an error in words.
func (c *Containers) status(ctx context.Context, g network.Grant, id string) (container, error) {
	var answer struct {
		Code    string `json:"status_code"`
		Status  string `json:"status"`
		Message string `json:"error_message"`
	}
	err := c.Client.Do(ctx, c.On(g, http.MethodGet, id, url.Values{"fields": {c.Words.State}}, &answer))
	if answer.Code != "" {
		return container{answer.Code, answer.Status}, err
	}
	return container{answer.Status, answer.Message}, err
}

var errState = errors.New("asking for a container: the answer has no known state")
