package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

const (
	blueskyName       = "bluesky"
	blueskyCollection = "app.bsky.feed.post"
)

var handleForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// bluesky is a personal data server of the AT Protocol, without most of that network: no timelines, no other sizes of
// an image; of what others do with posts it tells counts. It answers as the genuine server does, which the tests of
// pressroom's own Bluesky client compare; where the genuine one answers a malformed query with an internal error, it
// says what is wrong.
type bluesky struct {
	*Server
	rate    rateWindow
	tid     sync.Mutex
	lastTID int64 // microseconds
}

func (b *bluesky) name() string  { return blueskyName }
func (b *bluesky) title() string { return "Bluesky" }

// settle makes nobody: people sign up here.
func (b *bluesky) settle(context.Context) error { return nil }

// handler answers XRPC, and at the addresses that a post has in the network's web client, the sandbox's page.
func (b *bluesky) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/profile/") {
			http.Redirect(w, r, b.baseURL(r)+"/#"+anchor(blueskyName, r.URL.Path), http.StatusSeeOther) //nolint:gosec // the base is our own, and what is appended is escaped
			return
		}
		b.serveXRPC(w, r)
	})
}

// EnsureBlueskyAccount makes an account that signs in with appPassword, or gives the one with this handle
// the name and the password. The handle is a domain name such as "demo.test".
func (s *Server) EnsureBlueskyAccount(handle, displayName, appPassword string) error {
	handle = strings.ToLower(handle)
	if len(handle) > 253 || !handleForm.MatchString(handle) || appPassword == "" {
		return fmt.Errorf("making the Bluesky account %q: it needs a domain name as its handle, and a password", handle)
	}
	ctx := context.Background()
	err := s.store.in(ctx, func(t tx) error {
		return t.keepAccount(ctx, blueskyName, account{
			id: blueskyDID(handle), handle: handle, displayName: displayName, password: s.seal(appPassword),
		})
	})
	if err != nil {
		return fmt.Errorf("making the Bluesky account %q: %w", handle, err)
	}
	return nil
}

// blueskyDID gives a handle the same id in every sandbox.
func blueskyDID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox account " + handle))
	return "did:plc:" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15]))
}

// seal is a keyed hash, of passwords and of tokens.
func (s *Server) seal(text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// didDocument says of an account where its repository is.
func (b *bluesky) didDocument(r *http.Request, a account) map[string]any {
	return map[string]any{
		"@context":    []string{"https://www.w3.org/ns/did/v1"},
		"id":          a.id,
		"alsoKnownAs": []string{"at://" + a.handle},
		"service": []map[string]string{{
			"id": "#atproto_pds", "type": "AtprotoPersonalDataServer",
			"serviceEndpoint": b.baseURL(r) + "/" + blueskyName,
		}},
	}
}
