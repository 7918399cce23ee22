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
	SingleImage   = "an image"
	SeveralImages = "several images"
	SingleVideo   = "a video"
	Story         = "a story"
	OutcomeLookup = "outcome of a lost response"
	PostMetrics   = "metrics"
	AppCheck      = "check of apps"
	Disconnect    = "disconnecting"
)

var capabilities = []string{SignIn, Text, SingleImage, SeveralImages, SingleVideo, Story, OutcomeLookup, PostMetrics,
	AppCheck, Disconnect}

const guidePath = "../../../docs/networks.md"

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
	content, err := os.ReadFile(guidePath)
	if err != nil {
		t.Fatal(err)
	}
	cells := []string{c.Platform}
	for _, capability := range capabilities {
		cells = append(cells, c.verification(t, capability))
	}
	head := "| | " + strings.Join(capabilities, " | ") + " |"
	row := "| " + strings.Join(cells, " | ") + " |"
	for _, line := range []string{head, row} {
		if !strings.Contains(string(content), "\n"+line+"\n") {
			t.Errorf("%s lacks the line:\n%s", guidePath, line)
		}
	}
}

// verification returns how a capability is verified.
func (c Case) verification(t *testing.T, capability string) string {
	t.Helper()
	requests, supported := c.collectRequests(t, capability)
	if hasCapability := c.hasCapability(capability); hasCapability != supported {
		t.Errorf("%s: the rules say %t, the cases %t", capability, hasCapability, supported)
	}
	described := 0
	for _, r := range requests {
		if c.IsDescribed != nil && c.IsDescribed(r) {
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
		SignIn: true, OutcomeLookup: true, PostMetrics: collects, AppCheck: checks, Disconnect: revokes,
		Text: !rules.Media.Required, SingleImage: rules.Images.Max > 0, SeveralImages: rules.Images.Max > 1,
		SingleVideo: rules.Videos.Max > 0,
		Story:       rules.Stories.Max > 0,
	}[capability]
}

// collectRequests makes the calls of a capability and returns their requests. It returns false if c lacks the
// capability.
func (c Case) collectRequests(t *testing.T, capability string) ([]Request, bool) {
	t.Helper()
	f := New(t, c, 0)
	if capability == Disconnect {
		return f.revokeAll()
	}
	supported, first := true, 0
	skipSetup := func() { first = len(f.Transport.Requests("")) }
	for _, kind := range c.kinds() {
		g := f.Connect(kind, Account)
		switch capability {
		case SignIn:
			f.Clock.Advance(c.MinRefreshAge)
			f.Renew(g)
			continue
		case OutcomeLookup:
			d := f.PrepareUsual(g, "lost")
			f.Publish(g, d)
			skipSetup()
			_, _, _ = f.Resolve(g, d)
		case PostMetrics:
			f.Post(g, "a post", f.Media()...)
			f.Clock.Advance(c.MetricsAfter)
			skipSetup()
			f.Collect(g, Start, 10)
		case AppCheck:
			skipSetup()
			f.CheckApp()
			f.CheckAccount(g)
		default:
			skipSetup()
			supported = f.publishAll(g, capability)
		}
		break
	}
	return f.Transport.Requests("")[first:], supported
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
	published := false
	for _, p := range f.c.Posts {
		media := f.useContent(p)
		if capabilityOf(p, media, f.c.Platform) != capability {
			continue
		}
		published = true
		f.Publish(g, f.MustPrepare(g, "a post: "+p.Name, media...))
	}
	return published
}

// capabilityOf returns the capability that a kind of post with media needs.
func capabilityOf(p Content, media []network.Media, platform string) string {
	switch {
	case p.Options.IsStory(platform):
		return Story
	case len(media) == 0:
		return Text
	case media[0].Kind == network.Video:
		return SingleVideo
	case len(media) == 1:
		return SingleImage
	}
	return SeveralImages
}
