package approval

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
)

// link is the decoded content of an approval link.
type link struct {
	request   string // ID of the request; empty for links from earlier releases
	posts     []linkedPost
	personID  int64     // person who created the link; 0 if unknown
	expiresAt time.Time // when the link expires
	message   string
}

// linkedPost is a version of a post that a link shows.
type linkedPost struct {
	post       string
	round      int64
	generation int64 // generation of the post's links, which is incremented when they are revoked
}

// key identifies the link for rate limits.
func (l link) key() string {
	if l.request == "" {
		return l.posts[0].post
	}
	return l.request
}

// find returns the version of a post that the link shows. The ID may be empty if the link has only one post.
func (l link) find(post string) (linkedPost, error) {
	if post == "" && len(l.posts) == 1 {
		return l.posts[0], nil
	}
	if i := slices.IndexFunc(l.posts, func(p linkedPost) bool { return p.post == post }); i >= 0 {
		return l.posts[i], nil
	}
	return linkedPost{}, apierr.ItemNotFound()
}

// A token consists of a version byte, big-endian 64-bit numbers, an ID and a signature. A version 3 token has no
// numbers and contains the ID of a request. Tokens from earlier releases contain the ID of a post. Version 1 has two
// numbers: the round and the expiry in Unix seconds. Version 2 adds the generation, which is 0 for version 1.
const (
	maxTokenLength  = 200 // characters
	tokenNumberSize = 8   // bytes
	requestVersion  = 3
)

// tokenNumbers is the number of 64-bit numbers by version.
var tokenNumbers = map[byte]int{1: 2, 2: 3, requestVersion: 0}

var tokenEncoding = base64.RawURLEncoding.Strict()

// token returns the signed token of a request's link.
func (s *Service) token(request string) string {
	body := append([]byte{requestVersion}, request...)
	return tokenEncoding.EncodeToString(append(body, s.links.Sign(body)...))
}

// Errors for links with a valid signature.
var (
	errExpired = apierr.BadState("ended", "This link has expired. Ask the team that sent it for a new one.")
	errRevoked = apierr.BadState("revoked",
		"The team has revoked this link. Ask the team that sent it for a new one.")
	errChanged = apierr.BadState("changed",
		"The post has changed since this link was sent. Ask the team that sent it for a link to the new version.")
)

// read returns the content of a token. It returns not_found for an invalid token and for a link without posts. It
// returns wrong_state for an expired or revoked link.
func (s *Service) read(ctx context.Context, token string) (link, error) {
	l, err := s.parse(token)
	if err == nil && l.request != "" {
		err = s.loadLink(ctx, &l)
	}
	if err == nil && !s.DB.Now().Before(l.expiresAt) {
		err = errExpired
	}
	return l, err
}

// parse decodes and verifies a token. For a link with a request, it returns only the request ID.
func (s *Service) parse(token string) (link, error) {
	if len(token) > maxTokenLength {
		return link{}, apierr.ItemNotFound()
	}
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) == 0 {
		return link{}, apierr.ItemNotFound()
	}
	numbers, known := tokenNumbers[raw[0]]
	head := 1 + numbers*tokenNumberSize
	if !known || len(raw) <= head+sha256.Size {
		return link{}, apierr.ItemNotFound()
	}
	body, sum := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	if !s.links.Verify(body, sum) {
		return link{}, apierr.ItemNotFound()
	}
	number := func(i int) int64 {
		return int64(binary.BigEndian.Uint64(body[1+tokenNumberSize*i:])) //nolint:gosec // the signature proves that it is an int64
	}
	id := string(body[head:])
	if body[0] == requestVersion {
		return link{request: id}, nil
	}
	linked := linkedPost{post: id, round: number(0)}
	if numbers > 2 {
		linked.generation = number(2)
	}
	return link{posts: []linkedPost{linked}, expiresAt: time.Unix(number(1), 0)}, nil
}
