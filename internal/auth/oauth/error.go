package oauth

// Error is an OAuth error response.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + ": " + e.Text }

// Error codes: RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591, section 3.2.2; RFC 8707, section 2.
const (
	InvalidRequest          = "invalid_request"
	InvalidClient           = "invalid_client"
	InvalidGrant            = "invalid_grant"
	InvalidScope            = "invalid_scope"
	InvalidTarget           = "invalid_target"
	InvalidRedirect         = "invalid_redirect_uri"
	InvalidMetadata         = "invalid_client_metadata"
	AccessDenied            = "access_denied"
	UnsupportedGrantType    = "unsupported_grant_type"
	UnsupportedResponseType = "unsupported_response_type"
)

func newError(code, text string) *Error { return &Error{code, text} }

var errInvalidResource = newError(InvalidTarget, "The resource must be the MCP endpoint or the REST API of this service.")
