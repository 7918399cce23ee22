// Package linkedin simulates LinkedIn.
package linkedin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Name is the network's name in URLs.
const Name = "linkedin"

const (
	companySuffix = ".company" // an organization's handle is its administrator's handle with this suffix

	accessLifetime  = 60 * 24 * time.Hour
	refreshLifetime = 365 * 24 * time.Hour
)

// Network is the part of LinkedIn's API that pressroom uses: OAuth consent and tokens, images and videos, and posts of
// members and of their organizations. It accepts every app. The suffix of a client ID selects the app's products (see
// products). An app receives refresh tokens if a person grants it a scope for organizations. Each member administers
// one organization.
type Network struct{ *oauth.Provider }

// New returns the network of the sandbox s.
func New(s *base.Server) *Network {
	return &Network{&oauth.Provider{
		Server: s, Platform: Name, DisplayName: "LinkedIn",
		CannotSignIn: func(a store.Account) bool { return strings.HasSuffix(a.Handle, companySuffix) },
	}}
}

// Init creates the initial accounts.
func (n *Network) Init(ctx context.Context) error {
	if err := n.AddPeople(ctx, PersonURN); err != nil {
		return err
	}
	return n.Store.InTx(ctx, func(t store.Tx) error {
		for _, p := range oauth.People {
			a := store.Account{
				ID: OrganizationURN(p.Handle), Handle: p.Handle + companySuffix,
				DisplayName: p.DisplayName + " Company", Password: []byte{},
			}
			if err := t.SaveAccount(ctx, Name, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// PersonURN returns the URN of a member. The same handle has the same URN in every sandbox.
func PersonURN(handle string) string {
	sum := sha256.Sum256([]byte("sandbox linkedin person " + handle))
	return "urn:li:person:" + base64.RawURLEncoding.EncodeToString(sum[:7])
}

// OrganizationURN returns the URN of the organization that a member administers.
func OrganizationURN(handle string) string {
	sum := sha256.Sum256([]byte("sandbox linkedin organization " + handle))
	return fmt.Sprintf("urn:li:organization:%d", 1e7+binary.BigEndian.Uint64(sum[:8])%9e7)
}

// Handler returns the handler of the API, the consent page, uploads, and the redirects from posts to the sandbox's
// page.
func (n *Network) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/v2/authorization", n.authorize)
	mux.HandleFunc("POST /oauth/v2/authorization", n.authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /oauth/v2/accessToken":                    n.grantToken,
		"POST /oauth/v2/introspectToken":                n.introspect,
		"GET /v2/userinfo":                              n.userinfo,
		"GET /v2/me":                                    n.me,
		"GET /rest/organizationAcls":                    requireVersion(n.listRoles),
		"GET /rest/organizations/{id}":                  requireVersion(n.describeOrganization),
		"POST /rest/images":                             requireVersion(n.initImage),
		"GET /rest/images/{urn}":                        requireVersion(n.describeAsset),
		"POST /rest/videos":                             requireVersion(n.videoAction),
		"GET /rest/videos/{urn}":                        requireVersion(n.describeAsset),
		"POST /rest/posts":                              requireVersion(n.createPost),
		"GET /rest/posts":                               requireVersion(n.listPosts),
		"POST /rest/socialActions/{urn}/comments":       requireVersion(n.createComment),
		"GET /rest/socialActions/{urn}/comments":        requireVersion(n.listComments),
		"GET /rest/networkSizes/{urn}":                  requireVersion(n.networkSize),
		"GET /rest/organizationalEntityShareStatistics": requireVersion(n.shareStatistics),
		"GET /rest/memberCreatorPostAnalytics":          requireVersion(n.memberAnalytics),
		"GET /media/{account}/{cid}":                    n.MediaFile(Name, errNotFound),
		"/":                                             n.notFound,
	} {
		mux.HandleFunc(pattern, n.handle(do))
	}
	mux.HandleFunc("PUT /dms-uploads/{secret}", n.upload)
	mux.HandleFunc("GET /web/feed/update/{id}/{$}", n.RedirectToPage)
	return mux
}
