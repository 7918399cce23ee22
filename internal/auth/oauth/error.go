package oauth

// Error is a refusal that a program is told, by a code of the protocol.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + ": " + e.Text }

// The codes: RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707, section 2.
const (
	InvalidRequest  = "invalid_request"
	InvalidClient   = "invalid_client"
	InvalidGrant    = "invalid_grant"
	InvalidScope    = "invalid_scope"
	InvalidTarget   = "invalid_target"
	InvalidRedirect = "invalid_redirect_uri"
	InvalidMetadata = "invalid_client_metadata"
	AccessDenied    = "access_denied"
	NotThisGrant    = "unsupported_grant_type"
	NotThisResponse = "unsupported_response_type"
)

func refused(code, text string) *Error { return &Error{code, text} }

var errResource = refused(InvalidTarget, "Tokens are given out for the address of the tools alone.")
