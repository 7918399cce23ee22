package approval

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"pressroom/internal/apierr"
)

// link is the content of a link.
type link struct {
	post       string
	round      int64
	ends       time.Time
	generation int64 // of the post's links; incremented when they are revoked
}

// A token consists of a version, big-endian 64-bit numbers, the post's id and a signature. Version 1 has the
// round and the end in Unix seconds, with generation 0; version 2 adds the generation.
const (
	maxToken        = 200 // characters
	tokenNumberSize = 8   // bytes
)

// tokenNumbers is the count of numbers by version.
var tokenNumbers = map[byte]int{1: 2, 2: 3}

var tokenEncoding = base64.RawURLEncoding.Strict()

// token returns the signed token of a link.
func (s *Service) token(l link) string {
	version, numbers := byte(1), []int64{l.round, l.ends.Unix()}
	if l.generation > 0 { // nodes of the previous release read only version 1
		version, numbers = 2, append(numbers, l.generation)
	}
	body := []byte{version}
	for _, n := range numbers {
		//nolint:gosec // rounds and generations are positive, and it ends after 1970
		body = binary.BigEndian.AppendUint64(body, uint64(n))
	}
	body = append(body, l.post...)
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

// parse returns the content of a token. It returns not_found for any other text and wrong_state for an expired
// link.
func (s *Service) parse(token string) (link, error) {
	if len(token) > maxToken {
		return link{}, apierr.Missing()
	}
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) == 0 {
		return link{}, apierr.Missing()
	}
	numbers := tokenNumbers[raw[0]]
	head := 1 + numbers*tokenNumberSize
	if numbers == 0 || len(raw) < head+sha256.Size {
		return link{}, apierr.Missing()
	}
	body, sum := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	if !s.links.Verify(body, sum) {
		return link{}, apierr.Missing()
	}
	number := func(i int) int64 {
		return int64(binary.BigEndian.Uint64(body[1+tokenNumberSize*i:])) //nolint:gosec // signed, so as it was written
	}
	l := link{post: string(body[head:]), round: number(0), ends: time.Unix(number(1), 0)}
	if numbers > 2 {
		l.generation = number(2)
	}
	if !s.DB.Now().Before(l.ends) {
		return l, errEnded
	}
	return l, nil
}
