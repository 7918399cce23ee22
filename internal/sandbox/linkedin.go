package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	linkedinName    = "linkedin"
	linkedinCompany = ".company" // suffix of the handle of an organization, after that of its administrator

	linkedinAccessLife  = 60 * 24 * time.Hour
	linkedinRefreshLife = 365 * 24 * time.Hour
)

// linkedin is the part of LinkedIn's API that publishes: the consent and its tokens, images and videos, posts of
// members and of their organizations. It accepts every app and any secret. An app with the organizations' scopes counts
// as approved and gets refresh tokens. Each member administers one organization.
type linkedin struct{ *oauth }

func newLinkedin(s *shared) *linkedin {
	return &linkedin{&oauth{
		shared: s, platform: linkedinName, displayName: "LinkedIn",
		cannotSignIn: func(a account) bool { return strings.HasSuffix(a.handle, linkedinCompany) },
	}}
}

func (n *linkedin) settle(ctx context.Context) error {
	if err := n.people(ctx, linkedinPerson); err != nil {
		return err
	}
	return n.store.in(ctx, func(t tx) error {
		for _, p := range people {
			a := account{
				id: linkedinOrganization(p.handle), handle: p.handle + linkedinCompany,
				displayName: p.displayName + " Company", password: []byte{},
			}
			if err := t.keepAccount(ctx, linkedinName, a); err != nil {
				return err
			}
		}
		return nil
	})
}

// linkedinPerson returns a member's URN, which is the same in every sandbox.
func linkedinPerson(handle string) string {
	sum := sha256.Sum256([]byte("sandbox linkedin person " + handle))
	return "urn:li:person:" + base64.RawURLEncoding.EncodeToString(sum[:7])
}

// linkedinOrganization returns the URN of the organization that a member administers.
func linkedinOrganization(handle string) string {
	sum := sha256.Sum256([]byte("sandbox linkedin organization " + handle))
	return fmt.Sprintf("urn:li:organization:%d", 1e7+binary.BigEndian.Uint64(sum[:8])%9e7)
}

// handler serves the API, the consent page, uploads, and redirects from posts to the sandbox's page.
func (n *linkedin) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/v2/authorization", n.authorize)
	mux.HandleFunc("POST /oauth/v2/authorization", n.authorize)
	for pattern, do := range map[string]func(*http.Request) (any, error){
		"POST /oauth/v2/accessToken":                    n.giveToken,
		"GET /v2/userinfo":                              n.userinfo,
		"GET /rest/organizationAcls":                    linkedinVersioned(n.listOffices),
		"GET /rest/organizations/{id}":                  linkedinVersioned(n.describeOrganization),
		"POST /rest/images":                             linkedinVersioned(n.announceImage),
		"GET /rest/images/{urn}":                        linkedinVersioned(n.describeAsset),
		"POST /rest/videos":                             linkedinVersioned(n.videoAction),
		"GET /rest/videos/{urn}":                        linkedinVersioned(n.describeAsset),
		"POST /rest/posts":                              linkedinVersioned(n.publish),
		"GET /rest/posts":                               linkedinVersioned(n.listPosts),
		"GET /rest/networkSizes/{urn}":                  linkedinVersioned(n.networkSize),
		"GET /rest/organizationalEntityShareStatistics": linkedinVersioned(n.shareStatistics),
		"GET /rest/memberCreatorPostAnalytics":          linkedinVersioned(n.memberAnalytics),
		"GET /media/{account}/{cid}":                    n.mediaFile(linkedinName, errLinkedinMissing),
		"/":                                             n.nowhere,
	} {
		mux.HandleFunc(pattern, n.answer(do))
	}
	mux.HandleFunc("PUT /dms-uploads/{secret}", n.upload)
	mux.HandleFunc("GET /web/feed/update/{id}/{$}", n.toPage)
	return mux
}
