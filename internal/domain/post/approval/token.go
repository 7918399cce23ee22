package approval

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"

	"pressroom/internal/apierr"
)

// link is the content of a link.
type link struct {
	request string // empty for links of releases without requests
	posts   []shown
	person  int64     // who made it; 0 if unknown
	ends    time.Time // when it expires
	client  string    // name last entered on its page
}

// shown is the version of a post that a link shows.
type shown struct {
	post       string
	round      int64
	generation int64 // of the post's links; incremented when they are revoked
}

// key identifies the link in limits.
func (l link) key() string {
	if l.request == "" {
		return l.posts[0].post
	}
	return l.request
}

// find returns what the link shows of a post. Without an ID, that is its only post.
func (l link) find(post string) (shown, error) {
	if post == "" && len(l.posts) == 1 {
		return l.posts[0], nil
	}
	if i := slices.IndexFunc(l.posts, func(one shown) bool { return one.post == post }); i >= 0 {
		return l.posts[i], nil
	}
	return shown{}, apierr.Missing()
}

// A token consists of a version, big-endian 64-bit numbers, an ID and a signature. Version 3 has the ID of a request.
// Earlier releases made tokens with the ID of a post: version 1 has the round and the end in Unix seconds, with
// generation 0; version 2 adds the generation.
const (
	maxToken        = 200 // characters
	tokenNumberSize = 8   // bytes
	requestVersion  = 3
)

// tokenNumbers is the count of numbers by version.
var tokenNumbers = map[byte]int{1: 2, 2: 3, requestVersion: 0}

var tokenEncoding = base64.RawURLEncoding.Strict()

// token returns the signed token of a request's link.
func (s *Service) token(request string) string {
	body := append([]byte{requestVersion}, request...)
	return tokenEncoding.EncodeToString(append(body, s.links.Sign(body)...))
}

// Why a signed link shows nothing.
var (
	errEnded   = apierr.BadState("ended", "This link has expired. Ask the team that sent it for a new one.")
	errRevoked = apierr.BadState("revoked",
		"The team has revoked this link. Ask the team that sent it for a new one.")
	errChanged = apierr.BadState("changed",
		"The post has changed since this link was sent. Ask the team that sent it for a link to the new version.")
)

// read returns the content of a token. It returns not_found for any other text and for links without posts, and
// wrong_state for an expired or revoked link.
func (s *Service) read(ctx context.Context, token string) (link, error) {
	l, err := s.parse(token)
	if err == nil && l.request != "" {
		err = s.loadLink(ctx, &l)
	}
	if err == nil && !s.DB.Now().Before(l.ends) {
		err = errEnded
	}
	return l, err
}

// parse returns the content of a token, for a link with a request only its ID.
func (s *Service) parse(token string) (link, error) {
	if len(token) > maxToken {
		return link{}, apierr.Missing()
	}
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) == 0 {
		return link{}, apierr.Missing()
	}
	numbers, known := tokenNumbers[raw[0]]
	head := 1 + numbers*tokenNumberSize
	if !known || len(raw) <= head+sha256.Size {
		return link{}, apierr.Missing()
	}
	body, sum := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	if !s.links.Verify(body, sum) {
		return link{}, apierr.Missing()
	}
	number := func(i int) int64 {
		return int64(binary.BigEndian.Uint64(body[1+tokenNumberSize*i:])) //nolint:gosec // signed, so as it was written
	}
	id := string(body[head:])
	if body[0] == requestVersion {
		return link{request: id}, nil
	}
	one := shown{post: id, round: number(0)}
	if numbers > 2 {
		one.generation = number(2)
	}
	return link{posts: []shown{one}, ends: time.Unix(number(1), 0)}, nil
}
