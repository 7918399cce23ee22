package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// recorder records the SDK's response. If the response is an event stream, recorder forwards it immediately.
type recorder struct {
	header   http.Header
	status   int
	body     bytes.Buffer
	stream   http.ResponseWriter // receives the event stream; nil if the response must not be a stream
	isStream bool
}

// Header returns the header fields of the response.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader records the status or begins the stream.
func (w *recorder) WriteHeader(status int) {
	w.status = status
	w.isStream = w.stream != nil && status == http.StatusOK &&
		strings.HasPrefix(w.header.Get("Content-Type"), "text/event-stream")
	if w.isStream {
		w.stream.WriteHeader(status)
	}
}

// Write records the body unless it belongs to a stream.
func (w *recorder) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.isStream {
		return w.stream.Write(body) //nolint:wrapcheck // a wrapper returns errors unchanged
	}
	return w.body.Write(body) //nolint:wrapcheck // it never fails
}

// FlushError flushes a stream.
func (w *recorder) FlushError() error {
	if !w.isStream {
		return nil
	}
	return http.NewResponseController(w.stream).Flush() //nolint:wrapcheck // a wrapper returns errors unchanged
}

// forward calls the SDK's handler and sends the recorded response, unless it was streamed.
func (x *exchange) forward(handler http.Handler) {
	if r := x.record(handler); !r.isStream {
		x.write(r.status, r.body.Bytes())
	}
}

// record runs the SDK's handler and returns the response. It replaces the SDK's own errors.
func (x *exchange) record(handler http.Handler) *recorder {
	w := &recorder{header: x.w.Header()}
	if x.isStream {
		w.stream = x.w
	}
	handler.ServeHTTP(w, x.r)
	w.status = max(w.status, http.StatusOK) // 0 if the handler wrote nothing
	if !x.isOwnError && w.body.Len() > 0 && !bytes.Contains(w.body.Bytes(), resultPrefix) {
		x.rewriteError(w)
	}
	return w
}

// rewriteError replaces the SDK's error, because its text is meant for developers and repeats the client's input.
func (x *exchange) rewriteError(w *recorder) {
	var original struct {
		Error struct {
			Code int64 `json:"code"`
		} `json:"error"`
	}
	e := rpcError{Code: jsonrpc.CodeInvalidRequest}
	switch {
	case json.Unmarshal(w.body.Bytes(), &original) != nil:
		e.Message = replacementMessage(w.body.String())
	case original.Error.Code == sdk.CodeUnsupportedProtocolVersion:
		e = unsupportedVersion(x.version)
	case original.Error.Code == 0 && x.method == methodInitialize: // unreadable params have no code
		e = rpcError{jsonrpc.CodeInvalidParams, x.messageForCode(jsonrpc.CodeInvalidParams), nil}
	case original.Error.Code == 0: // the SDK failed
		e = rpcError{jsonrpc.CodeInternalError, x.messageForCode(jsonrpc.CodeInternalError), nil}
	default:
		e = rpcError{original.Error.Code, x.messageForCode(original.Error.Code), nil}
	}
	w.body.Reset()
	w.body.Write(x.errorJSON(x.callID, e))
	w.header.Set("Content-Type", "application/json")
}

// replacementMessage returns the message that replaces a plain-text error from the SDK. It recognizes the error by its
// first words.
func replacementMessage(text string) string {
	for prefix, message := range map[string]string{
		"Content-Type":           "Send the body with Content-Type: application/json.",
		"Accept":                 "The Accept header must contain application/json and text/event-stream.",
		"can't send Last-Event":  "Event streams cannot be resumed. Remove the Last-Event-ID header.",
		"invalid request: missi": "This method requires params.",
	} {
		if strings.HasPrefix(text, prefix) {
			return message
		}
	}
	return invalidMessageError.Message
}

// messageForCode returns the message for a JSON-RPC error code.
func (x *exchange) messageForCode(code int64) string {
	switch code {
	case jsonrpc.CodeInvalidParams:
		if x.r.Header.Get(versionHeader) >= sessionlessVersion {
			return "The params are invalid for this method. Their _meta must contain " +
				sdk.MetaKeyProtocolVersion + " and " + sdk.MetaKeyClientCapabilities + "."
		}
		return "The params are invalid for this method."
	case jsonrpc.CodeMethodNotFound:
		return "This version of the protocol has no such method."
	case sdk.CodeHeaderMismatch:
		return "The headers Mcp-Protocol-Version, Mcp-Method and Mcp-Name must match the message."
	case sdk.CodeMissingRequiredClientCapabilities:
		return "The client does not declare a capability that this method requires."
	case jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError:
		return invalidMessageError.Message
	}
	return "The service failed."
}

const versionHeader = "Mcp-Protocol-Version"

// versionPattern matches protocol versions, which are dates, and similar strings that cannot contain a secret.
var versionPattern = regexp.MustCompile(`^v?\d{1,4}(?:[.-]\d{1,4}){1,2}$`)

// unsupportedVersion returns the error for an unsupported protocol version. As the protocol requires, its data contains
// the supported versions and the requested version. The requested version is left out if it does not look like a
// version.
func unsupportedVersion(requested string) rpcError {
	data := sdk.UnsupportedProtocolVersionData{Supported: sdk.SupportedProtocolVersions()}
	if versionPattern.MatchString(requested) {
		data.Requested = requested
	}
	return rpcError{
		sdk.CodeUnsupportedProtocolVersion,
		"Unsupported protocol version. data lists the supported ones.", data,
	}
}
