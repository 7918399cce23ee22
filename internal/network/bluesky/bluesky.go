// Package bluesky publishes to Bluesky and every other server of the AT Protocol, by its own XRPC calls
// over plain HTTP with an app password's session.
//
// Images and videos are uploaded first, as blobs that nobody sees, and the record then names them.
//
// A post is a record in the account's repository, under a key that we choose ourselves. The key and the
// creation time are fixed before anything is sent and the record is only ever created, never replaced, so
// the same publication sent any number of times makes one post.
package bluesky

import (
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/rivo/uniseg"

	"pressroom/internal/network"
)

const (
	callTimeout   = 20 * time.Second
	defaultWebURL = "https://bsky.app"
)

// Limits is what the network takes of a post.
type Limits struct {
	Graphemes  int           // user-perceived characters of the text
	Bytes      int           // of the text's UTF-8
	Images     int           // of one post, which otherwise may have one video
	ImageBytes int64         // of one image; a larger one is made smaller
	VideoBytes int64         // of a video
	VideoTime  time.Duration // of a video
}

// TodaysLimits are those of the lexicons app.bsky.feed.post, app.bsky.embed.images and app.bsky.embed.video; a
// video's length is what the network says of its video service. Newer lexicons take images of 2,000,000 bytes, but an
// account's own server may be older.
var TodaysLimits = Limits{
	Graphemes: 300, Bytes: 3000,
	Images: 4, ImageBytes: 1_000_000,
	VideoBytes: 100_000_000, VideoTime: 3 * time.Minute,
}

// Options are what an operator or a test may set. The zero value is the real network.
type Options struct {
	HTTP   *http.Client     // its Timeout bounds each call, 20 seconds where it has none; an upload has three of them and more by its size
	Now    func() time.Time // time.Now by default
	Limits Limits           // TodaysLimits by default
	WebURL string           // base of permalinks, https://bsky.app by default
}

// Network is Bluesky's publishing protocol. It keeps nothing between calls.
type Network struct {
	http    *http.Client
	timeout time.Duration
	now     func() time.Time
	limits  Limits
	webURL  string
}

var _ network.Network = (*Network)(nil)

// New makes the network with opts.
func New(opts Options) *Network {
	n := &Network{http: new(http.Client), timeout: callTimeout, now: opts.Now, limits: opts.Limits, webURL: opts.WebURL}
	if opts.HTTP != nil {
		*n.http = *opts.HTTP
	}
	if n.http.Timeout > 0 {
		n.timeout, n.http.Timeout = n.http.Timeout, 0 // each call has its own deadline
	}
	// A redirect would carry a password or a token to an address that nobody has chosen.
	n.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if n.now == nil {
		n.now = time.Now
	}
	if n.limits == (Limits{}) {
		n.limits = TodaysLimits
	}
	if n.webURL == "" {
		n.webURL = defaultWebURL
	}
	n.webURL = strings.TrimRight(n.webURL, "/")
	return n
}

// Platform is the network's name in the contract.
func (n *Network) Platform() string { return "bluesky" }

// Check finds a text that is missing or longer than the network takes, and media that it does not take, or not as
// they are. Media need no text beside them and no description.
func (n *Network) Check(c network.Content) []network.Problem {
	return append(n.checkText(c), n.checkMedia(c.Media)...)
}

func (n *Network) checkText(c network.Content) []network.Problem {
	if blank(c.Text) && len(c.Media) == 0 {
		return []network.Problem{{Code: "caption_missing", Blocking: true, Message: "A Bluesky post needs a text."}}
	}
	if count := uniseg.GraphemeClusterCount(c.Text); count > n.limits.Graphemes {
		return []network.Problem{tooLong(count, n.limits.Graphemes, "characters")}
	}
	if len(c.Text) > n.limits.Bytes {
		return []network.Problem{tooLong(len(c.Text), n.limits.Bytes, "bytes")}
	}
	return nil
}

func tooLong(have, most int, unit string) network.Problem {
	message := fmt.Sprintf("The text has %d %s; Bluesky takes at most %d.", have, unit, most)
	return network.Problem{Code: "caption_too_long", Blocking: true, Message: message}
}

// blank also holds for a text of invisible characters alone, such as zero-width spaces.
func blank(text string) bool {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }) == ""
}
