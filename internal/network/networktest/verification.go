package networktest

import (
	"errors"
	"os"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// How a capability is verified. The table in docs/networks.md uses these words.
const (
	byServer        = "server"        // tested with the network's real server
	byDescription   = "description"   // all requests and the sandbox's responses match the network's API description
	byPart          = "partly"        // the description covers only some of the calls
	byDocumentation = "documentation" // the description covers none of the calls
	unsupported     = "–"
)

// Capabilities of a network, in the order of the table's columns.
const (
	SignIn        = "sign-in"
	Text          = "text"
	AnImage       = "an image"
	SeveralImages = "several images"
	AVideo        = "a video"
	AStory        = "a story"
	LookUp        = "outcome of a lost response"
	PostMetrics   = "metrics"
	CheckedApp    = "check of apps"
	Disconnect    = "disconnecting"
)

var capabilities = []string{SignIn, Text, AnImage, SeveralImages, AVideo, AStory, LookUp, PostMetrics, CheckedApp, Disconnect}

const guide = "../../../docs/networks.md"

func testVerification(t *testing.T, c Case) {
	if c.Partial {
		t.Skip("the case covers a part of the network")
	}
	Verify(t, c)
}

// Verify checks the network's row in the table of docs/networks.md. It makes the calls of each capability, and checks
// which calls the network's description covers.
func Verify(t *testing.T, c Case) {
	t.Helper()
	content, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	cells := []string{c.Platform}
	for _, capability := range capabilities {
		cells = append(cells, c.verified(t, capability))
	}
	head := "| | " + strings.Join(capabilities, " | ") + " |"
	row := "| " + strings.Join(cells, " | ") + " |"
	for _, line := range []string{head, row} {
		if !strings.Contains(string(content), "\n"+line+"\n") {
			t.Errorf("%s lacks the line:\n%s", guide, line)
		}
	}
}

// verified returns how a capability is verified.
func (c Case) verified(t *testing.T, capability string) string {
	t.Helper()
	requests, supported := c.requestsOf(t, capability)
	if has := c.hasCapability(capability); has != supported {
		t.Errorf("%s: the rules say %t, the cases %t", capability, has, supported)
	}
	described := 0
	for _, r := range requests {
		if c.Described != nil && c.Described(r) {
			described++
		}
	}
	switch {
	case !supported:
		return unsupported
	case c.RealServer[capability]:
		return byServer
	case len(requests) == 0:
		t.Errorf("%s makes no requests", capability)
		return ""
	case described == len(requests):
		return byDescription
	case described > 0:
		return byPart
	}
	return byDocumentation
}

// hasCapability reports whether the network has a capability, according to its rules and the interfaces it implements.
func (c Case) hasCapability(capability string) bool {
	rules, _ := network.DefaultRules(c.Platform)
	n := c.New("https://network.test", network.App{})
	_, collects := n.(network.Collector)
	_, checks := n.(network.AppChecker)
	_, revokes := n.(network.Revoker)
	return map[string]bool{
		SignIn: true, LookUp: true, PostMetrics: collects, CheckedApp: checks, Disconnect: revokes,
		Text: !rules.Media.Required, AnImage: rules.Images.Max > 0, SeveralImages: rules.Images.Max > 1,
		AVideo: rules.Videos.Max > 0,
		AStory: rules.Stories.Max > 0,
	}[capability]
}

// requestsOf makes the calls of a capability and returns their requests. It returns false if c lacks the capability.
func (c Case) requestsOf(t *testing.T, capability string) ([]Request, bool) {
	t.Helper()
	f := New(t, c, 0)
	if capability == Disconnect {
		return f.revokeAll()
	}
	supported, from := true, 0
	mark := func() { from = len(f.Transport.Requests("")) }
	for _, kind := range c.kinds() {
		g := f.Connect(kind, Account)
		switch capability {
		case SignIn:
			f.Clock.Advance(c.MinAge)
			f.Renew(g)
			continue
		case LookUp:
			d := f.PrepareUsual(g, "lost")
			f.Publish(g, d)
			mark()
			_, _, _ = f.Resolve(g, d)
		case PostMetrics:
			f.Post(g, "a post", f.Media()...)
			f.Clock.Advance(c.MetricsAfter)
			mark()
			f.Collect(g, Start, 10)
		case CheckedApp:
			mark()
			f.CheckedApp()
			f.CheckedAccount(g)
		default:
			mark()
			supported = f.publishAll(g, capability)
		}
		break
	}
	return f.Transport.Requests("")[from:], supported
}

// revokeAll revokes a grant of each kind and returns the requests. It returns false if the network has no call to
// revoke a grant.
func (f *Fixture) revokeAll() ([]Request, bool) {
	f.t.Helper()
	revoker, ok := f.Network().(network.Revoker)
	if !ok {
		return nil, false
	}
	var requests []Request
	for _, kind := range f.c.kinds() {
		g := f.Connect(kind, Account)
		before := len(f.Transport.Requests(""))
		if err := revoker.Revoke(f.t.Context(), g); err != nil && !errors.Is(err, network.ErrRevokeUnsupported) {
			f.t.Error(err)
		}
		requests = append(requests, f.Transport.Requests("")[before:]...)
	}
	return requests, true
}

// publishAll publishes each post of the Case that has the capability, and reports whether there is such a post.
func (f *Fixture) publishAll(g network.Grant, capability string) bool {
	f.t.Helper()
	found := false
	for _, p := range f.c.Posts {
		media := f.use(p)
		if capabilityOf(p, media, f.c.Platform) != capability {
			continue
		}
		found = true
		f.Publish(g, f.MustPrepare(g, "a post: "+p.Name, media...))
	}
	return found
}

// capabilityOf returns the capability that a kind of post with media needs.
func capabilityOf(p Content, media []network.Media, platform string) string {
	switch {
	case p.Options.IsStory(platform):
		return AStory
	case len(media) == 0:
		return Text
	case media[0].Kind == network.Video:
		return AVideo
	case len(media) == 1:
		return AnImage
	}
	return SeveralImages
}
