// Package apierr defines the errors that the API returns: a stable code, a text that is safe to show to the caller, and
// an underlying error for the log. Package problem defines the HTTP status of each code.
package apierr

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// Code is a stable error code. Clients branch on it.
type Code string

// The codes that the API contract defines.
const (
	Unauthorized             Code = "unauthorized"
	RestDisabled             Code = "rest_disabled"
	TeamAccessDisabled       Code = "mcp_disabled_for_team"
	PlanLapsed               Code = "plan_lapsed"
	ConnectionSuspended      Code = "connection_suspended"
	TeamClosed               Code = "team_closed"
	OwnerSuspended           Code = "account_not_approved"
	MembershipLost           Code = "membership_lost"
	OwnershipLost            Code = "ownership_lost"
	RoleLost                 Code = "role_lost"
	EndpointNotFound         Code = "endpoint_not_found"
	MethodNotAllowed         Code = "method_not_allowed"
	ReadNotAllowed           Code = "read_not_allowed"
	WriteNotAllowed          Code = "write_not_allowed"
	PublishNotAllowed        Code = "publish_not_allowed"
	SpendNotAllowed          Code = "spend_not_allowed"
	RateLimited              Code = "rate_limited"
	DailyCallLimit           Code = "daily_call_limit_reached"
	DailyCreditLimit         Code = "daily_credit_limit_reached"
	InsufficientCredits      Code = "insufficient_credits"
	PlanLimitReached         Code = "plan_limit_reached"
	ValidationFailed         Code = "validation_failed"
	NotFound                 Code = "not_found"
	FolderNotFound           Code = "folder_not_found"
	IdempotencyKeyReused     Code = "idempotency_key_reused"
	IdempotencyKeyInProgress Code = "idempotency_key_in_progress"
	PreflightBlocked         Code = "preflight_blocked"
	AwaitingApproval         Code = "awaiting_client_approval"
	ProviderUnavailable      Code = "provider_unavailable"
	Internal                 Code = "internal_error"
)

// Unavailable means that this node cannot serve the call now. It is an addition to the contract, which allows new
// codes within v1.
const Unavailable Code = "service_unavailable"

// The reasons of service_unavailable.
const (
	Busy         = "busy"      // the node is at capacity; nothing was done
	Disconnected = "cut_off"   // the node cannot reach its database or its file store
	DiskFull     = "disk_full" // the disk has less free space than its reserve, so no files are accepted
)

// The codes of requests to upload links, which are not operations of the contract.
const (
	UploadLinkUsed   Code = "upload_link_used"
	UploadLinkClosed Code = "upload_link_closed"
	UploadTooLarge   Code = "upload_too_large"
)

// The codes of requests that are rejected before an operation is selected (RFC 9110, RFC 6585).
const (
	MalformedRequest          Code = "malformed_request"
	HeadersTooLarge           Code = "headers_too_large"
	TransferCodingUnsupported Code = "transfer_coding_not_supported"
	HTTPVersionUnsupported    Code = "http_version_not_supported"
)

// The reasons of validation_failed: those of the contract, and some that pressroom adds.
const (
	UnknownArgument           = "unknown_argument"
	ArgumentGivenTwice        = "argument_given_twice"
	BodyNotAllowed            = "body_not_allowed"
	ArgumentsInQuery          = "arguments_in_query"
	BodyNotAnObject           = "body_not_a_json_object"
	NotAnInteger              = "not_an_integer"
	NotANumber                = "not_a_number"
	NotABoolean               = "not_a_boolean"
	NotAList                  = "not_a_list"
	NotASingleValue           = "not_a_single_value"
	NotExpressibleInQuery     = "not_expressible_in_a_query"
	SecretInArgument          = "secret_in_argument"
	IdempotencyKeyRequired    = "idempotency_key_required"
	IdempotencyKeyNotAccepted = "idempotency_key_not_accepted"
	IdempotencyKeyGivenTwice  = "idempotency_key_given_twice"
	IdempotencyKeyEmpty       = "idempotency_key_empty"
	IdempotencyKeyTooLong     = "idempotency_key_too_long"
	MissingArgument           = "missing_argument"
	TooLong                   = "too_long"
	TooShort                  = "too_short"
	OutOfRange                = "out_of_range"
	NotAllowedValue           = "not_allowed_value"
	Malformed                 = "malformed"
	InvalidCursor             = "invalid_cursor"
	NoTimePart                = "no_time_part"
	TimeDoesNotExist          = "time_does_not_exist"
	InThePast                 = "in_the_past"
	ExactlyOneOf              = "exactly_one_of"
	TooLarge                  = "too_large"
	WrongState                = "wrong_state"
	SizeDiffers               = "size_differs"
	DigestDiffers             = "digest_differs"
	TypeDiffers               = "type_differs"
	TypeRefused               = "type_refused"
)

// ChargeKeySpent is the reason of an idempotency_key_reused error of a paid operation: the request was already paid for
// with this key, and its result is no longer stored.
const ChargeKeySpent = "charge_key_spent"

// Error is an error that the API returns.
type Error struct {
	Code       Code
	Detail     string         // safe to show
	Format     string         // format of Detail, for translations; empty if Detail has no arguments
	Args       []any          // arguments of Format
	Context    map[string]any // identifiers such as reason, argument and scope; never a value from the request
	RetryAfter time.Duration  // 0 if waiting does not help
	Err        error          // only for the log
}

func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// New returns an error. The detail must be safe to show.
func New(code Code, detail string) *Error {
	return &Error{Code: code, Detail: detail}
}

// Newf is New with a detail formatted by fmt.Sprintf. The format and its arguments are kept for translations.
func Newf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...), Format: format, Args: args}
}

// Invalidf is Invalid with a detail formatted as by Newf.
func Invalidf(reason, argument, format string, args ...any) *Error {
	e := Invalid(reason, argument, fmt.Sprintf(format, args...))
	e.Format, e.Args = format, args
	return e
}

// BadStatef is BadState with a detail formatted as by Newf.
func BadStatef(state, format string, args ...any) *Error {
	e := BadState(state, fmt.Sprintf(format, args...))
	e.Format, e.Args = format, args
	return e
}

// Invalid returns a validation_failed error. argument is "" if no single argument is invalid.
func Invalid(reason, argument, detail string) *Error {
	e := New(ValidationFailed, detail).With("reason", reason)
	if argument != "" {
		return e.With("argument", argument)
	}
	return e
}

// BadState returns the error for an action that the item's current state does not allow.
func BadState(state, detail string) *Error {
	return Invalid(WrongState, "", detail).With("state", state)
}

// ItemNotFound returns the error for an item that does not exist or belongs to another team. It does not reveal which.
func ItemNotFound() *Error {
	return New(NotFound, "Item not found, or you don't have access to it.")
}

// unavailableRetryAfter is how long a client should wait before it calls a node again that cannot reach its database or
// file store.
const unavailableRetryAfter = 2 * time.Second

// AtCapacity returns the error for a call that a node at capacity rejects.
func AtCapacity(wait time.Duration) *Error {
	return New(Unavailable, "This node is at capacity. Nothing was done or charged; retry after the wait.").
		With("reason", Busy).WithRetryAfter(wait)
}

// Unreachable returns the error for a call that failed because the node cannot reach its database or file store. The
// call may have taken effect.
func Unreachable(err error) *Error {
	return New(Unavailable,
		"The service cannot reach its database or file store. Retry after the wait, with the same Idempotency-Key if "+
			"you sent one. A write without a key may have taken effect: check before you retry.").
		With("reason", Disconnected).WithRetryAfter(unavailableRetryAfter).Wrap(err)
}

// With returns a copy with one more identifier in its context.
func (e *Error) With(name string, value any) *Error {
	out := *e
	out.Context = maps.Clone(e.Context)
	if out.Context == nil {
		out.Context = map[string]any{}
	}
	out.Context[name] = value
	return &out
}

// WithRetryAfter returns a copy with the time to wait, rounded up to whole seconds and at least one.
func (e *Error) WithRetryAfter(wait time.Duration) *Error {
	out := *e
	out.RetryAfter = max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
	return out.With("retry_after_seconds", int(out.RetryAfter/time.Second))
}

// Wrap returns a copy with an underlying error for the log.
func (e *Error) Wrap(err error) *Error {
	out := *e
	out.Err = err
	return &out
}

// FromError returns the Error in err's tree. If there is none, it returns an internal_error that hides err's text.
func FromError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Err: err,
		Detail: "Internal error. Part of the call may have taken effect: check the result, then retry only with the " +
			"same Idempotency-Key."}
}

// IsServerError reports whether the service failed, as opposed to a request that the caller can correct.
func (e *Error) IsServerError() bool { return e.Code == Internal || e.Code == Unavailable }

// Is reports whether err is an Error with this code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// OperatorError is an error about a request of the operator. Its text says how to correct it and is safe to show.
type OperatorError string

func (r OperatorError) Error() string { return string(r) }

// FormattedOperatorError is an OperatorError with the format and values of its text, for translations.
type FormattedOperatorError struct {
	Format string
	Args   []any
}

// OperatorErrorf returns an OperatorError with a text formatted by fmt.Sprintf.
func OperatorErrorf(format string, args ...any) error {
	if len(args) == 0 {
		return OperatorError(format)
	}
	return &FormattedOperatorError{format, args}
}

func (e *FormattedOperatorError) Error() string { return fmt.Sprintf(e.Format, e.Args...) }

// Unwrap returns the OperatorError.
func (e *FormattedOperatorError) Unwrap() error { return OperatorError(e.Error()) }
