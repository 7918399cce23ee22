package bluesky

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
)

// xrpcError is an error response of the protocol.
type xrpcError struct {
	status  int
	name    string
	message string
}

func (e *xrpcError) Error() string { return e.name + ": " + e.message }

func invalidRequest(format string, args ...any) *xrpcError {
	return &xrpcError{http.StatusBadRequest, "InvalidRequest", fmt.Sprintf(format, args...)}
}

// xrpcMethod is a method of the protocol. If its result is nil, the response has no body.
type xrpcMethod struct {
	verb string
	do   func(*Network, *http.Request) (any, error)
}

var methods = map[string]xrpcMethod{
	"_health":                            {http.MethodGet, (*Network).health},
	"com.atproto.server.createSession":   {http.MethodPost, (*Network).createSession},
	"com.atproto.server.refreshSession":  {http.MethodPost, (*Network).refreshSession},
	"com.atproto.server.getSession":      {http.MethodGet, (*Network).getSession},
	"com.atproto.server.deleteSession":   {http.MethodPost, (*Network).deleteSession},
	"com.atproto.server.getServiceAuth":  {http.MethodGet, (*Network).getServiceAuth},
	"com.atproto.identity.resolveHandle": {http.MethodGet, (*Network).resolveHandle},
	"com.atproto.repo.describeRepo":      {http.MethodGet, (*Network).describeRepo},
	"com.atproto.repo.createRecord":      {http.MethodPost, (*Network).createRecord},
	"com.atproto.repo.putRecord":         {http.MethodPost, (*Network).putRecord},
	"com.atproto.repo.applyWrites":       {http.MethodPost, (*Network).applyWrites},
	"com.atproto.repo.getRecord":         {http.MethodGet, (*Network).getRecord},
	"com.atproto.repo.listRecords":       {http.MethodGet, (*Network).listRecords},
	"com.atproto.repo.deleteRecord":      {http.MethodPost, (*Network).deleteRecord},
	"com.atproto.sync.getBlob":           {http.MethodGet, (*Network).getBlob},
	"app.bsky.actor.getProfile":          {http.MethodGet, (*Network).getProfile},
	"app.bsky.feed.getAuthorFeed":        {http.MethodGet, (*Network).getAuthorFeed},
}

func (b *Network) health(*http.Request) (any, error) {
	return map[string]string{"version": "sandbox"}, nil
}

func (b *Network) serveXRPC(w http.ResponseWriter, r *http.Request) {
	b.rate.count(w.Header(), b.Now())
	result, err := b.handleXRPC(w, r)
	reject := func(e *xrpcError) {
		if e.status == http.StatusTooManyRequests {
			b.rate.exhaust(w.Header(), b.Now())
		}
		base.WriteJSON(w, e.status, map[string]string{"error": e.name, "message": e.message})
	}
	switch {
	case base.Respond(w, r, Name, result, err, errInternal, reject):
	case result == nil:
		w.WriteHeader(http.StatusOK)
	default:
		base.WriteJSON(w, http.StatusOK, result)
	}
}

var errInternal = &xrpcError{http.StatusInternalServerError, "InternalServerError", "Internal Server Error"}

func (b *Network) handleXRPC(w http.ResponseWriter, r *http.Request) (any, error) {
	methodTable := methods
	path, isVideo := strings.CutPrefix(r.URL.Path, videoPath)
	if isVideo {
		methodTable = videoMethods
	}
	name, isXRPC := strings.CutPrefix(path, "/xrpc/")
	switch {
	case r.Method != http.MethodPost || !isXRPC:
	case name == uploadMethod && !isVideo:
		return b.uploadBlob(w, r)
	case name == uploadVideoMethod && isVideo:
		return b.uploadVideo(w, r)
	}
	method, exists := methodTable[name]
	if !isXRPC || !exists {
		return nil, &xrpcError{http.StatusNotImplemented, "MethodNotImplemented", "Method Not Implemented"}
	}
	if r.Method != method.verb {
		return nil, &xrpcError{http.StatusMethodNotAllowed, "InvalidRequest",
			fmt.Sprintf("Incorrect HTTP method (%s) expected %s", r.Method, method.verb)}
	}
	if method.verb == http.MethodPost {
		if err := bufferBody(w, r); err != nil {
			return nil, err
		}
	}
	ctx, cancel := base.WorkContext(r)
	defer cancel()
	return method.do(b, r.WithContext(ctx))
}

func bufferBody(w http.ResponseWriter, r *http.Request) error {
	err := base.BufferBody(w, r)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, base.ErrBodyTooLarge):
		return &xrpcError{http.StatusRequestEntityTooLarge, "PayloadTooLargeError", "request entity too large"}
	}
	return errUnreadable
}

// readInput parses a call's JSON body.
func readInput(r *http.Request, out any) error {
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "application/json":
	case "":
		return invalidRequest("Request encoding (Content-Type) required but not provided")
	default:
		return invalidRequest("Wrong request encoding (Content-Type): %s", kind)
	}
	err := json.NewDecoder(r.Body).Decode(out)
	var xrpcErr *xrpcError
	var typeErr *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &xrpcErr):
		return xrpcErr
	case errors.As(err, &typeErr):
		return invalidRequest("Expected another value type (got a %s) at $.%s", typeErr.Value, typeErr.Field)
	}
	return &xrpcError{http.StatusBadRequest, "SyntaxError", "The body is not JSON: " + err.Error()}
}

// requireValues returns an error if a required value of a call is missing. Its arguments are pairs of a name and a
// value.
func requireValues(pairs ...string) error {
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] == "" {
			return invalidRequest("Missing required key %q at $", pair[0])
		}
	}
	return nil
}
