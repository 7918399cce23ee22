// Package apierr holds the kinds of error that pressroom answers with: the contract's codes, a text that is
// safe to show, and the error behind it that only the log sees. How a kind becomes an HTTP status or a tool
// error is the edges' affair (package problem).
package apierr

import (
	"errors"
	"maps"
	"time"
)

// Code is a stable reason of the contract (spec, Errors); clients branch on it.
type Code string

// The codes of the contract's error table.
const (
	Unauthorized        Code = "unauthorized"
	RestDisabled        Code = "rest_disabled"
	TeamSwitchedOff     Code = "mcp_disabled_for_team"
	PlanLapsed          Code = "plan_lapsed"
	ConnectionSuspended Code = "connection_suspended"
	TeamClosed          Code = "team_closed"
	AccountNotApproved  Code = "account_not_approved"
	MembershipLost      Code = "membership_lost"
	OwnershipLost       Code = "ownership_lost"
	RoleLost            Code = "role_lost"
	EndpointNotFound    Code = "endpoint_not_found"
	MethodNotAllowed    Code = "method_not_allowed"
	ReadNotAllowed      Code = "read_not_allowed"
	WriteNotAllowed     Code = "write_not_allowed"
	PublishNotAllowed   Code = "publish_not_allowed"
	SpendNotAllowed     Code = "spend_not_allowed"
	RateLimited         Code = "rate_limited"
	DailyCallLimit      Code = "daily_call_limit_reached"
	DailyCreditLimit    Code = "daily_credit_limit_reached"
	InsufficientCredits Code = "insufficient_credits"
	PlanLimitReached    Code = "plan_limit_reached"
	ValidationFailed    Code = "validation_failed"
	NotFound            Code = "not_found"
	FolderNotFound      Code = "folder_not_found"
	KeyReused           Code = "idempotency_key_reused"
	KeyInProgress       Code = "idempotency_key_in_progress"
	PreflightBlocked    Code = "preflight_blocked"
	AwaitingApproval    Code = "awaiting_client_approval"
	ProviderUnavailable Code = "provider_unavailable"
	Internal            Code = "internal_error"
)

// Unavailable is a code beyond the contract's table, as the contract allows within v1: this node cannot take the call
// now.
const Unavailable Code = "service_unavailable"

// The reasons of service_unavailable.
const (
	Busy   = "busy"    // the node has as many calls as it can serve; nothing was done
	CutOff = "cut_off" // the node does not reach its database or its files
	// DiskFull is the reason for refusing files while the disk has less free space than its reserve.
	DiskFull = "disk_full"
)

// The codes of what is no operation of the contract: upload links.
const (
	UploadLinkUsed   Code = "upload_link_used"
	UploadLinkClosed Code = "upload_link_closed"
	UploadTooLarge   Code = "upload_too_large"
)

// The codes of requests that are refused before an operation is looked for (RFC 9110, RFC 6585).
const (
	MalformedRequest          Code = "malformed_request"
	HeadersTooLarge           Code = "headers_too_large"
	TransferCodingUnsupported Code = "transfer_coding_not_supported"
	HTTPVersionUnsupported    Code = "http_version_not_supported"
)

// The reasons of validation_failed (spec, Errors, and the further ones pressroom adds).
const (
	UnknownArgument       = "unknown_argument"
	ArgumentGivenTwice    = "argument_given_twice"
	BodyNotAllowed        = "body_not_allowed"
	ArgumentsInQuery      = "arguments_in_query"
	BodyNotAnObject       = "body_not_a_json_object"
	NotAnInteger          = "not_an_integer"
	NotANumber            = "not_a_number"
	NotABoolean           = "not_a_boolean"
	NotAList              = "not_a_list"
	NotASingleValue       = "not_a_single_value"
	NotExpressibleInQuery = "not_expressible_in_a_query"
	SecretInArgument      = "secret_in_argument"
	KeyRequired           = "idempotency_key_required"
	KeyNotAccepted        = "idempotency_key_not_accepted"
	KeyGivenTwice         = "idempotency_key_given_twice"
	KeyEmpty              = "idempotency_key_empty"
	KeyTooLong            = "idempotency_key_too_long"
	MissingArgument       = "missing_argument"
	TooLong               = "too_long"
	TooShort              = "too_short"
	OutOfRange            = "out_of_range"
	NotAllowedValue       = "not_allowed_value"
	Malformed             = "malformed"
	InvalidCursor         = "invalid_cursor"
	NoTimePart            = "no_time_part"
	TimeDoesNotExist      = "time_does_not_exist"
	InThePast             = "in_the_past"
	ExactlyOneOf          = "exactly_one_of"
	TooLarge              = "too_large"
	WrongState            = "wrong_state"
	SizeDiffers           = "size_differs"
	DigestDiffers         = "digest_differs"
	TypeDiffers           = "type_differs"
	TypeRefused           = "type_refused"
)

// ChargeKeySpent is the reason of an idempotency_key_reused on a paid operation: the key paid for this very request
// before, and the result is no longer kept (spec, Authentication 8).
const ChargeKeySpent = "charge_key_spent"

// Error is a refusal or a failure. Detail is safe to show; Err is for the log alone.
type Error struct {
	Code       Code
	Detail     string
	Context    map[string]any // identifiers such as reason, argument, scope; never a value that was sent
	RetryAfter time.Duration  // 0 where there is nothing to wait for
	Err        error
}

func (e *Error) Error() string {
	text := string(e.Code) + ": " + e.Detail
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// New makes a refusal with a sentence that is safe to show.
func New(code Code, detail string) *Error {
	return &Error{Code: code, Detail: detail}
}

// Invalid makes a validation_failed refusal. The argument may be empty where none is to blame.
func Invalid(reason, argument, detail string) *Error {
	e := New(ValidationFailed, detail).With("reason", reason)
	if argument != "" {
		return e.With("argument", argument)
	}
	return e
}

// BadState refuses what the item's present state does not allow.
func BadState(state, detail string) *Error {
	return Invalid(WrongState, "", detail).With("state", state)
}

// Missing is the one answer for an item that is not there and for another team's.
func Missing() *Error {
	return New(NotFound, "No such item for this key.")
}

// cutOffWait is how long to wait before a node that is cut off is asked again.
const cutOffWait = 2 * time.Second

// Full refuses a call for which a node has no room.
func Full(wait time.Duration) *Error {
	return New(Unavailable,
		"This node has as many calls as it can serve. Nothing was done or charged: repeat the call after the wait.").
		With("reason", Busy).After(wait)
}

// Away refuses what a node cannot do while it does not reach its database or its files. What was under way when they
// went may have taken effect.
func Away(err error) *Error {
	return New(Unavailable,
		"The service does not reach its database or its files at the moment. Repeat the call after the wait, with the "+
			"same Idempotency-Key if it had one: then it is done once. A write without a key may have taken effect: "+
			"look first.").
		With("reason", CutOff).After(cutOffWait).Wrap(err)
}

// With returns a copy that carries one more identifier in its context.
func (e *Error) With(name string, value any) *Error {
	out := *e
	out.Context = maps.Clone(e.Context)
	if out.Context == nil {
		out.Context = map[string]any{}
	}
	out.Context[name] = value
	return &out
}

// After returns a copy that tells how long to wait, rounded up to whole seconds and at least one.
func (e *Error) After(wait time.Duration) *Error {
	out := *e
	out.RetryAfter = max(time.Second, (wait + time.Second - 1).Truncate(time.Second))
	return out.With("retry_after_seconds", int(out.RetryAfter/time.Second))
}

// Wrap keeps the error behind a refusal for the log.
func (e *Error) Wrap(err error) *Error {
	out := *e
	out.Err = err
	return &out
}

// Of finds the fault in an error; anything else is an internal_error whose text nobody outside sees.
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: Internal, Err: err,
		Detail: "Something failed on our side. Part of the call may have taken effect: check the result, then repeat " +
			"only with the same Idempotency-Key."}
}

// Ours tells whether something failed on our side, so that whoever asked can mend nothing.
func (e *Error) Ours() bool { return e.Code == Internal || e.Code == Unavailable }

// Is tells whether an error is a fault of this code.
func Is(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Refusal is what the operator asked for and cannot have. Its text says what to mend and is safe to show.
type Refusal string //nolint:errname // it is named for what it tells the operator, as fault kinds are

func (r Refusal) Error() string { return string(r) }
