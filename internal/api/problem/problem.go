// Package problem sends errors as problem documents (RFC 9457) and rate limits as header fields. It defines the status
// and the title of each error code.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
)

// Document is the body of every error response. Clients should rely only on code and status, because the texts may
// change.
type Document struct {
	Type    string         `json:"type" format:"uri" jsonschema:"Link to the code in the error reference."`
	Title   string         `json:"title" jsonschema:"Short description of the code."`
	Status  int            `json:"status" jsonschema:"HTTP status."`
	Detail  string         `json:"detail" jsonschema:"Description of this error."`
	Code    apierr.Code    `json:"code" jsonschema:"Stable error code."`
	Context map[string]any `json:"context,omitempty" jsonschema:"Identifiers such as reason and scope, never a value from the request."`
}

// Entry is an error code in the error reference.
type Entry struct {
	Code   apierr.Code
	Status int
	Title  string
}

// Entries returns all codes, in the order of the error reference.
func Entries() []Entry { return entries }

var entries = []Entry{
	{apierr.Unauthorized, http.StatusUnauthorized, "The API key or token is missing or invalid."},
	{apierr.RestDisabled, http.StatusForbidden, "The operator has turned off the API and the tools."},
	{apierr.TeamAccessDisabled, http.StatusForbidden, "The team's owner has turned off API and tool access."},
	{apierr.PlanLapsed, http.StatusForbidden, "The team's plan no longer includes API and tool access."},
	{apierr.ConnectionSuspended, http.StatusForbidden,
		"This key or connection, the service or this kind of action is paused."},
	{apierr.TeamClosed, http.StatusForbidden, "The team is closed."},
	{apierr.OwnerSuspended, http.StatusForbidden, "The owner's account is suspended."},
	{apierr.MembershipLost, http.StatusForbidden,
		"The person for whom this key or connection acts is no longer a member of the team."},
	{apierr.OwnershipLost, http.StatusForbidden, "The person who created the key no longer owns the team."},
	{apierr.RoleLost, http.StatusForbidden, "The person for whom this connection acts no longer has the required role."},
	{apierr.EndpointNotFound, http.StatusNotFound, "Endpoint not found."},
	{apierr.MethodNotAllowed, http.StatusMethodNotAllowed, "Method not allowed."},
	{apierr.ReadNotAllowed, http.StatusForbidden, "This connection is not allowed to read."},
	{apierr.WriteNotAllowed, http.StatusForbidden, "This key or connection is not allowed to write."},
	{apierr.PublishNotAllowed, http.StatusForbidden, "This key or connection is not allowed to publish."},
	{apierr.SpendNotAllowed, http.StatusForbidden, "This key or connection is not allowed to spend credits."},
	{apierr.RateLimited, http.StatusTooManyRequests, "Too many requests."},
	{apierr.DailyCallLimit, http.StatusTooManyRequests, "The team's free calls for today are used up."},
	{apierr.DailyCreditLimit, http.StatusTooManyRequests, "This would exceed a daily credit limit."},
	{apierr.InsufficientCredits, http.StatusPaymentRequired, "Not enough credits."},
	{apierr.PlanLimitReached, http.StatusForbidden, "The plan does not include this, or its limit is reached."},
	{apierr.ValidationFailed, http.StatusUnprocessableEntity, "The request is invalid."},
	{apierr.NotFound, http.StatusNotFound, "Item not found."},
	{apierr.FolderNotFound, http.StatusNotFound, "Media folder not found."},
	{apierr.IdempotencyKeyReused, http.StatusUnprocessableEntity,
		"The Idempotency-Key was already used for another request."},
	{apierr.IdempotencyKeyInProgress, http.StatusConflict,
		"The first request with this Idempotency-Key is still in progress."},
	{apierr.PreflightBlocked, http.StatusUnprocessableEntity, "The post violates a network's rules."},
	{apierr.AwaitingApproval, http.StatusForbidden, "The post needs the client's approval."},
	{apierr.ProviderUnavailable, http.StatusBadGateway, "A network, data provider or other external service is unavailable."},
	{apierr.Internal, http.StatusInternalServerError, "Internal error."},
	{apierr.Unavailable, http.StatusServiceUnavailable, "The service is temporarily unavailable."},
	{apierr.UploadLinkUsed, http.StatusConflict, "The upload link was already used."},
	{apierr.UploadLinkClosed, http.StatusGone, "The upload link has expired or was replaced."},
	{apierr.UploadTooLarge, http.StatusRequestEntityTooLarge,
		"The file is larger than the link or the library allows."},
	{apierr.MalformedRequest, http.StatusBadRequest, "The request is not valid HTTP."},
	{apierr.HeadersTooLarge, http.StatusRequestHeaderFieldsTooLarge, "The header fields are too large."},
	{apierr.TransferCodingUnsupported, http.StatusNotImplemented, "The transfer coding is not supported."},
	{apierr.HTTPVersionUnsupported, http.StatusHTTPVersionNotSupported, "The HTTP version is not supported."},
}

var entriesByCode = func() map[apierr.Code]Entry {
	out := map[apierr.Code]Entry{}
	for _, e := range entries {
		out[e.Code] = e
	}
	return out
}()

// ReferencePath is the path of the error reference below the public URL.
const ReferencePath = "/docs/errors"

// FromError returns the problem document for an error. For an error without a code, the code is internal_error, and the
// document does not reveal the error's text.
func FromError(err error, publicURL string) Document {
	f := apierr.FromError(err)
	e := entriesByCode[f.Code]
	return Document{
		Type: publicURL + ReferencePath + "#" + string(f.Code), Title: e.Title, Status: e.Status, Detail: f.Detail,
		Code: f.Code, Context: f.Context,
	}
}

// StatusClientClosed is the status in logs and metrics for a request whose client disconnected before the response. It
// is never sent. nginx uses the same number.
const StatusClientClosed = 499

// LogStatus returns the status for logs and metrics. For a server error, it returns StatusClientClosed if the client
// has disconnected.
func LogStatus(r *http.Request, status int) int {
	if status >= http.StatusInternalServerError && errors.Is(r.Context().Err(), context.Canceled) {
		return StatusClientClosed
	}
	return status
}

// LogLevel returns the level at which a request is logged: error if this service failed, warning if a node cannot reach
// its database or file store, and info otherwise. Rejections by a busy node are logged at info, because metrics count
// them.
func LogLevel(r *http.Request, status int, cause error) slog.Level {
	switch {
	case r.Context().Err() != nil:
		return slog.LevelInfo
	case status == http.StatusServiceUnavailable && apierr.FromError(cause).Context["reason"] == apierr.Busy:
		return slog.LevelInfo
	case status == http.StatusServiceUnavailable:
		return slog.LevelWarn
	case status >= http.StatusInternalServerError:
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Write sends the problem document for an error with its header fields. It returns the status.
func Write(w http.ResponseWriter, err error, publicURL string) int {
	doc := FromError(err, publicURL)
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
	if wait := apierr.FromError(err).RetryAfter; wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
	w.WriteHeader(doc.Status)
	_, _ = w.Write(body) // the client may have disconnected
	return doc.Status
}
