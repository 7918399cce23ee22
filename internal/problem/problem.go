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

	"pressroom/internal/fault"
)

// Document is the body of every refusal. Only code and status are for programs to act on.
type Document struct {
	Type    string         `json:"type" format:"uri" jsonschema:"Link to the code's entry in the error reference."`
	Title   string         `json:"title" jsonschema:"A sentence for people."`
	Status  int            `json:"status" jsonschema:"The HTTP status."`
	Detail  string         `json:"detail" jsonschema:"A sentence about this refusal."`
	Code    fault.Code     `json:"code" jsonschema:"The stable reason."`
	Context map[string]any `json:"context,omitempty" jsonschema:"Identifiers such as reason, argument, scope; never a value that was sent."`
}

// Entry is what the error reference says of a code.
type Entry struct {
	Code   fault.Code
	Status int
	Title  string
}

// Entries is the error reference, in the order of the contract's table.
func Entries() []Entry { return entries }

var entries = []Entry{
	{fault.Unauthorized, http.StatusUnauthorized, "The request carries no key that works."},
	{fault.RestDisabled, http.StatusForbidden, "The operator has switched the API off."},
	{fault.TeamSwitchedOff, http.StatusForbidden, "The team's owner has switched API and tool access off."},
	{fault.PlanLapsed, http.StatusForbidden, "The team's plan no longer includes API and tool access."},
	{fault.ConnectionSuspended, http.StatusForbidden, "This key or connection, the service or this kind of action is paused."},
	{fault.TeamClosed, http.StatusForbidden, "The team is closed."},
	{fault.AccountNotApproved, http.StatusForbidden, "The owner's account is on hold."},
	{fault.MembershipLost, http.StatusForbidden, "The person whom this key or connection acts for is no longer a member of the team."},
	{fault.OwnershipLost, http.StatusForbidden, "The key's person no longer owns the team."},
	{fault.RoleLost, http.StatusForbidden, "The connection's person no longer has a role that can publish."},
	{fault.EndpointNotFound, http.StatusNotFound, "There is no such address."},
	{fault.MethodNotAllowed, http.StatusMethodNotAllowed, "The address does not take this method."},
	{fault.ReadNotAllowed, http.StatusForbidden, "This connection may not read."},
	{fault.WriteNotAllowed, http.StatusForbidden, "This key or connection may not write."},
	{fault.PublishNotAllowed, http.StatusForbidden, "This key or connection may not publish."},
	{fault.SpendNotAllowed, http.StatusForbidden, "This key or connection may not spend credits."},
	{fault.RateLimited, http.StatusTooManyRequests, "Too many requests."},
	{fault.DailyCallLimit, http.StatusTooManyRequests, "The team's free calls of the day are used up."},
	{fault.DailyCreditLimit, http.StatusTooManyRequests, "A daily credit limit would be crossed."},
	{fault.InsufficientCredits, http.StatusPaymentRequired, "The team has too few credits."},
	{fault.PlanLimitReached, http.StatusForbidden, "The plan does not include this, or its limit is used up."},
	{fault.ValidationFailed, http.StatusUnprocessableEntity, "The request is not as the description says."},
	{fault.NotFound, http.StatusNotFound, "There is no such item."},
	{fault.FolderNotFound, http.StatusNotFound, "There is no such folder in the media library."},
	{fault.KeyReused, http.StatusUnprocessableEntity, "The Idempotency-Key was used before."},
	{fault.KeyInProgress, http.StatusConflict, "The first call with this Idempotency-Key is still running."},
	{fault.PreflightBlocked, http.StatusUnprocessableEntity, "The post breaks a network's rules."},
	{fault.AwaitingApproval, http.StatusForbidden, "The post waits for the client's approval."},
	{fault.ProviderUnavailable, http.StatusBadGateway, "A network, or a source of figures, did not answer or confirm."},
	{fault.Internal, http.StatusInternalServerError, "Something failed on our side."},
	{fault.Unavailable, http.StatusServiceUnavailable, "The service cannot take the call at the moment."},
	{fault.UploadLinkUsed, http.StatusConflict, "The upload link was used."},
	{fault.UploadLinkClosed, http.StatusGone, "The upload link has expired or was replaced."},
	{fault.UploadTooLarge, http.StatusRequestEntityTooLarge, "More bytes than the link or the library takes."},
	{fault.MalformedRequest, http.StatusBadRequest, "The request is not valid HTTP."},
	{fault.HeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "The header fields are too large."},
	{fault.TransferCodingUnsupported, http.StatusNotImplemented, "The transfer coding is not supported."},
	{fault.HTTPVersionUnsupported, http.StatusHTTPVersionNotSupported, "The HTTP version is not supported."},
}

var byCode = func() map[fault.Code]Entry {
	out := map[fault.Code]Entry{}
	for _, e := range entries {
		out[e.Code] = e
	}
	return out
}()

// ReferencePath is where the error reference lies below the public address.
const ReferencePath = "/docs/errors"

// Of makes the document for an error. What is no fault shows as internal_error and tells nothing.
func Of(err error, publicURL string) Document {
	f := fault.Of(err)
	e := byCode[f.Code]
	return Document{Type: publicURL + ReferencePath + "#" + string(f.Code), Title: e.Title, Status: e.Status, Detail: f.Detail, Code: f.Code, Context: f.Context}
}

// ClientGone is the status by which logs and figures know a request whose caller hung up before it was answered: none that anybody
// was sent. Proxies know it by the same number.
const ClientGone = 499

// Noted is the status by which logs and figures know a request: what a caller who hung up was refused for is no failure of ours.
func Noted(r *http.Request, status int) int {
	if status >= http.StatusInternalServerError && errors.Is(r.Context().Err(), context.Canceled) {
		return ClientGone
	}
	return status
}

// Level is how loudly a request is logged. What failed on our side is an error; that a node is cut off is worth a word each time, and that
// it is full, which its figures tell, is not: it is short of time. Where the caller has gone nothing of ours failed.
func Level(r *http.Request, status int, cause error) slog.Level {
	switch {
	case r.Context().Err() != nil:
		return slog.LevelInfo
	case status == http.StatusServiceUnavailable && fault.Of(cause).Context["reason"] == fault.Busy:
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
	if wait := fault.Of(err).RetryAfter; wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	w.WriteHeader(doc.Status)
	_, _ = w.Write(body) // the client may be gone; there is nobody to tell
	return doc.Status
}
