// Package problem is how the edges show a refusal: the contract's problem document (RFC 9457) with the status
// and title of each code.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"pressroom/internal/apierr"
)

// Document is the body of every refusal. Only code and status are for programs to act on.
type Document struct {
	Type    string         `json:"type" format:"uri" jsonschema:"Link to the code's entry in the error reference."`
	Title   string         `json:"title" jsonschema:"A sentence for people."`
	Status  int            `json:"status" jsonschema:"The HTTP status."`
	Detail  string         `json:"detail" jsonschema:"A sentence about this refusal."`
	Code    apierr.Code    `json:"code" jsonschema:"The stable reason."`
	Context map[string]any `json:"context,omitempty" jsonschema:"Identifiers such as reason, argument, scope; never a value that was sent."`
}

// Entry is what the error reference says of a code.
type Entry struct {
	Code   apierr.Code
	Status int
	Title  string
}

// Entries is the error reference, in the order of the contract's table.
func Entries() []Entry { return entries }

var entries = []Entry{
	{apierr.Unauthorized, http.StatusUnauthorized, "The request carries no key that works."},
	{apierr.RestDisabled, http.StatusForbidden, "The operator has switched the API off."},
	{apierr.TeamSwitchedOff, http.StatusForbidden, "The team's owner has switched API and tool access off."},
	{apierr.PlanLapsed, http.StatusForbidden, "The team's plan no longer includes API and tool access."},
	{apierr.ConnectionSuspended, http.StatusForbidden, "This key or connection, the service or this kind of action " +
		"is paused."},
	{apierr.TeamClosed, http.StatusForbidden, "The team is closed."},
	{apierr.AccountNotApproved, http.StatusForbidden, "The owner's account is on hold."},
	{apierr.MembershipLost, http.StatusForbidden, "The person whom this key or connection acts for is no longer a " +
		"member of the team."},
	{apierr.OwnershipLost, http.StatusForbidden, "The key's person no longer owns the team."},
	{apierr.RoleLost, http.StatusForbidden, "The connection's person no longer has a role that can publish."},
	{apierr.EndpointNotFound, http.StatusNotFound, "There is no such address."},
	{apierr.MethodNotAllowed, http.StatusMethodNotAllowed, "The address does not take this method."},
	{apierr.ReadNotAllowed, http.StatusForbidden, "This connection may not read."},
	{apierr.WriteNotAllowed, http.StatusForbidden, "This key or connection may not write."},
	{apierr.PublishNotAllowed, http.StatusForbidden, "This key or connection may not publish."},
	{apierr.SpendNotAllowed, http.StatusForbidden, "This key or connection may not spend credits."},
	{apierr.RateLimited, http.StatusTooManyRequests, "Too many requests."},
	{apierr.DailyCallLimit, http.StatusTooManyRequests, "The team's free calls of the day are used up."},
	{apierr.DailyCreditLimit, http.StatusTooManyRequests, "A daily credit limit would be crossed."},
	{apierr.InsufficientCredits, http.StatusPaymentRequired, "The team has too few credits."},
	{apierr.PlanLimitReached, http.StatusForbidden, "The plan does not include this, or its limit is used up."},
	{apierr.ValidationFailed, http.StatusUnprocessableEntity, "The request is not as the description says."},
	{apierr.NotFound, http.StatusNotFound, "There is no such item."},
	{apierr.FolderNotFound, http.StatusNotFound, "There is no such folder in the media library."},
	{apierr.KeyReused, http.StatusUnprocessableEntity, "The Idempotency-Key was used before."},
	{apierr.KeyInProgress, http.StatusConflict, "The first call with this Idempotency-Key is still running."},
	{apierr.PreflightBlocked, http.StatusUnprocessableEntity, "The post breaks a network's rules."},
	{apierr.AwaitingApproval, http.StatusForbidden, "The post waits for the client's approval."},
	{apierr.ProviderUnavailable, http.StatusBadGateway, "A network, or a source of figures, did not answer " +
		"or confirm."},
	{apierr.Internal, http.StatusInternalServerError, "Something failed on our side."},
	{apierr.Unavailable, http.StatusServiceUnavailable, "The service cannot take the call at the moment."},
	{apierr.UploadLinkUsed, http.StatusConflict, "The upload link was used."},
	{apierr.UploadLinkClosed, http.StatusGone, "The upload link has expired or was replaced."},
	{apierr.UploadTooLarge, http.StatusRequestEntityTooLarge, "More bytes than the link or the library takes."},
	{apierr.MalformedRequest, http.StatusBadRequest, "The request is not valid HTTP."},
	{apierr.HeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "The header fields are too large."},
	{apierr.TransferCodingUnsupported, http.StatusNotImplemented, "The transfer coding is not supported."},
	{apierr.HTTPVersionUnsupported, http.StatusHTTPVersionNotSupported, "The HTTP version is not supported."},
}

var byCode = func() map[apierr.Code]Entry {
	out := map[apierr.Code]Entry{}
	for _, e := range entries {
		out[e.Code] = e
	}
	return out
}()

// ReferencePath is where the error reference lies below the public address.
const ReferencePath = "/docs/errors"

// Of makes the document for an error. What is no fault shows as internal_error and tells nothing.
func Of(err error, publicURL string) Document {
	f := apierr.Of(err)
	e := byCode[f.Code]
	return Document{
		Type: publicURL + ReferencePath + "#" + string(f.Code), Title: e.Title, Status: e.Status, Detail: f.Detail,
		Code: f.Code, Context: f.Context,
	}
}

// ClientGone is the status by which logs and figures know a request whose caller hung up before it was answered: none
// that anybody was sent. Proxies know it by the same number.
const ClientGone = 499

// Noted is the status by which logs and figures know a request: what a caller who hung up was refused for is no
// failure of ours.
func Noted(r *http.Request, status int) int {
	if status >= http.StatusInternalServerError && errors.Is(r.Context().Err(), context.Canceled) {
		return ClientGone
	}
	return status
}

// Level is how loudly a request is logged. What failed on our side is an error; that a node is cut off is worth a word
// each time, and that it is full, which its figures tell, is not: it is short of time. Where the caller has gone
// nothing of ours failed.
func Level(r *http.Request, status int, cause error) slog.Level {
	switch {
	case r.Context().Err() != nil:
		return slog.LevelInfo
	case status == http.StatusServiceUnavailable && apierr.Of(cause).Context["reason"] == apierr.Busy:
		return slog.LevelInfo
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Write answers with the document for an error, with the headers that go with it, and gives the status.
func Write(w http.ResponseWriter, err error, publicURL string) int {
	doc := Of(err, publicURL)
	body, marshalErr := json.Marshal(doc)
	if marshalErr != nil {
		doc.Status, body = http.StatusInternalServerError, []byte("{}")
	}
	body = append(body, '\n')
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if doc.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="api"`)
	}
	if wait := apierr.Of(err).RetryAfter; wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	w.WriteHeader(doc.Status)
	_, _ = w.Write(body) // the client may be gone; there is nobody to tell
	return doc.Status
}
