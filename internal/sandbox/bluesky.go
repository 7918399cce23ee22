package sandbox

import (
	"context"
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

// bluesky is a personal data server of the AT Protocol. It has no timelines and one size of each image. Of other
// people's reactions it shows only counts. It answers as the genuine server does, which a test compares, except that it
// explains malformed queries that fail there with an internal error.
type bluesky struct {
	*shared
	rate    rateWindow
	tid     sync.Mutex
	lastTID int64 // microseconds
}

func (b *bluesky) name() string  { return blueskyName }
func (b *bluesky) title() string { return "Bluesky" }

// settle does nothing: people sign up here.
func (b *bluesky) settle(context.Context) error { return nil }

// handler serves XRPC, and redirects from posts to the sandbox's page.
func (b *bluesky) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/profile/") {
			b.redirectToPost(w, r, blueskyName, r.URL.Path)
			return
		}
		b.serveXRPC(w, r)
	})
}

// ensureBlueskyAccount creates or updates an account that signs in with appPassword. The handle is a domain name.
func ensureBlueskyAccount(s *shared, handle, displayName, appPassword string) error {
	handle = strings.ToLower(handle)
	if len(handle) > 253 || !handleForm.MatchString(handle) || appPassword == "" {
		return fmt.Errorf("creating the Bluesky account %q: the handle must be a domain name and the password not empty",
			handle)
	}
	ctx := context.Background()
	err := s.store.in(ctx, func(t tx) error {
		return t.keepAccount(ctx, blueskyName, account{
			id: blueskyDID(handle), handle: handle, displayName: displayName, password: s.seal(appPassword),
		})
	})
	if err != nil {
		return fmt.Errorf("creating the Bluesky account %q: %w", handle, err)
	}
	return nil
}

// blueskyDID returns an account's id, which is the same in every sandbox.
func blueskyDID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox account " + handle))
	return "did:plc:" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15]))
}

// didDocument returns an account's DID document, which names its server.
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
