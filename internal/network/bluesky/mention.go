package bluesky

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const maxHandle = 253 // bytes (https://atproto.com/specs/handle)

var (
	handleRunPattern = regexp.MustCompile(`^@[A-Za-z0-9.-]+`)
	handleSyntax     = regexp.MustCompile(
		`^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	didSyntax = regexp.MustCompile(`^did:[a-z]+:[A-Za-z0-9._:%-]*[A-Za-z0-9._-]$`)
)

// parseMention returns the length in bytes of the @handle at the beginning of rest, and the handle in lower case. The
// length is 0 if rest does not begin with a handle.
func parseMention(rest string) (int, string) {
	run := handleRunPattern.FindString(rest)
	if run == "" || continuesWord(firstRune(rest[len(run):])) {
		return 0, ""
	}
	handle := strings.TrimRight(run[1:], ".")
	if len(handle) > maxHandle || !handleSyntax.MatchString(handle) {
		return 0, ""
	}
	return 1 + len(handle), strings.ToLower(handle)
}

// resolveHandle returns the DID of a handle, or "" if the network does not know the handle.
func (n *Network) resolveHandle(ctx context.Context, g network.Grant, handle string) (string, error) {
	var response struct {
		DID string `json:"did"`
	}
	err := n.call(ctx, call{
		purpose: network.PurposeRead,
		verb:    http.MethodGet,
		method:  "com.atproto.identity.resolveHandle",
		server:  g.Server,
		params:  url.Values{"handle": {handle}},
		out:     &response,
	})
	var netErr *network.Error
	if errors.As(err, &netErr) && netErr.Class == network.Rejected && netErr.Status == http.StatusBadRequest {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !didSyntax.MatchString(response.DID) {
		return "", &network.Error{
			Class: network.Transient, Status: http.StatusOK,
			Err: errors.New("resolving a handle: the response has no DID"),
		}
	}
	return response.DID, nil
}
