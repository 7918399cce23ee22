// Package bluesky simulates Bluesky.
package bluesky

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "bluesky"

const collection = "app.bsky.feed.post"

var handlePattern = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Network is a personal data server of the AT Protocol. It has no timelines, serves each image in only one size, and
// stores only the number of other people's reactions. A test verifies that its responses equal the responses of the
// real server. The only difference is the response to malformed queries: the real server returns an internal error, but
// the sandbox describes the error.
type Network struct {
	*base.Server
	rate    rateWindow
	tidMu   sync.Mutex
	lastTID int64 // microseconds
}

// Name returns the network's name in URLs.
func (b *Network) Name() string { return Name }

// Title returns the network's display name.
func (b *Network) Title() string { return "Bluesky" }

// Init does nothing, because EnsureAccount creates the accounts.
func (b *Network) Init(context.Context) error { return nil }

// Handler returns the handler of the XRPC methods and, below /video, of the video service. The handler also redirects
// the URLs of posts to the sandbox's page.
func (b *Network) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/profile/") {
			b.RedirectToPost(w, r, Name, r.URL.Path)
			return
		}
		b.serveXRPC(w, r)
	})
}

// EnsureAccount creates or updates an account that signs in with appPassword. The handle is a domain name.
func EnsureAccount(s *base.Server, handle, displayName, appPassword string) error {
	handle = strings.ToLower(handle)
	if len(handle) > 253 || !handlePattern.MatchString(handle) || appPassword == "" {
		return fmt.Errorf("creating the Bluesky account %q: the handle must be a domain name and the password set",
			handle)
	}
	ctx := context.Background()
	err := s.Store.InTx(ctx, func(t store.Tx) error {
		return t.SaveAccount(ctx, Name, store.Account{
			ID: DID(handle), Handle: handle, DisplayName: displayName, Password: s.Hash(appPassword),
		})
	})
	if err != nil {
		return fmt.Errorf("creating the Bluesky account %q: %w", handle, err)
	}
	return nil
}

// DID returns the ID of an account. The same handle has the same ID in every sandbox.
func DID(handle string) string {
	sum := sha256.Sum256([]byte("sandbox account " + handle))
	return "did:plc:" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15]))
}

// didDocument returns an account's DID document, which names its server.
func (b *Network) didDocument(r *http.Request, a store.Account) map[string]any {
	return map[string]any{
		"@context":    []string{"https://www.w3.org/ns/did/v1"},
		"id":          a.ID,
		"alsoKnownAs": []string{"at://" + a.Handle},
		"service": []map[string]string{{
			"id": "#atproto_pds", "type": "AtprotoPersonalDataServer",
			"serviceEndpoint": b.BaseURL(r) + "/" + Name,
		}},
	}
}
