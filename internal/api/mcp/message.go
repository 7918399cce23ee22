package mcp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessionlessVersion is the first protocol version without sessions. From this version on, errors have an HTTP error
// status.
const sessionlessVersion = "2026-07-28"

// methodInitialize begins a session in the protocol versions that have sessions.
const methodInitialize = "initialize"

// supportedMethods contains the methods that the server supports. The server's capabilities do not include other
// features, such as logging and subscriptions.
var supportedMethods = map[string]bool{
	methodInitialize: true, "ping": true, "server/discover": true, methodListTools: true, methodCallTool: true,
	"prompts/list": true, "prompts/get": true,
	"resources/templates/list": true, methodListResources: true, methodReadResource: true, methodComplete: true,
}

// operationMethods contains the methods that call operations. The pipeline counts these calls.
var operationMethods = map[string]bool{methodCallTool: true, methodListResources: true, methodReadResource: true,
	methodComplete: true}

var (
	crossOriginError    = rpcError{jsonrpc.CodeInvalidRequest, "Requests from web pages of other origins are not allowed.", nil}
	parseError          = rpcError{jsonrpc.CodeParseError, "The body is not valid JSON in UTF-8.", nil}
	batchError          = rpcError{jsonrpc.CodeInvalidRequest, "Batches are not supported. Send one message per request.", nil}
	invalidMessageError = rpcError{jsonrpc.CodeInvalidRequest, "The body is not a JSON-RPC message.", nil}
	invalidIDError      = rpcError{
		jsonrpc.CodeInvalidRequest,
		"The id must be a string or an integer from -9007199254740991 to 9007199254740991.", nil,
	}
	bodyTooLargeError  = rpcError{jsonrpc.CodeInvalidRequest, "The body is larger than 1 MiB. Nothing was done.", nil}
	truncatedBodyError = rpcError{jsonrpc.CodeParseError, "The body was cut off. Send the request again.", nil}
	unknownMethodError = rpcError{jsonrpc.CodeMethodNotFound, "Unknown method.", nil}
)

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// message is the part of a JSON-RPC message that is checked before the SDK reads it.
type message struct {
	JSONRPC string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id"`
	Method  string         `json:"method"`
	Params  jsontext.Value `json:"params"`
}

// protocolVersion returns the protocol version that a message of the sessionless protocol contains, or "".
func (m message) protocolVersion() string {
	var params struct {
		Meta map[string]jsontext.Value `json:"_meta"`
	}
	var version string
	_ = jsonv2.Unmarshal(m.Params, &params, jsontext.AllowDuplicateNames(true)) // the SDK rejects invalid params
	_ = jsonv2.Unmarshal(params.Meta[sdk.MetaKeyProtocolVersion], &version)
	return version
}

// Methods that call operations.
const (
	methodCallTool      = "tools/call"
	methodListResources = "resources/list"
	methodReadResource  = "resources/read"
	methodComplete      = "completion/complete"
)

// wantsProgress reports whether a message calls a tool that may wait and requests progress. Only the response to such a
// message is an event stream, because proxies and clients handle plain JSON better.
func (x *exchange) wantsProgress(body []byte) bool {
	if x.method != methodCallTool {
		return false
	}
	var m struct {
		Params struct {
			Name string `json:"name"`
			Meta struct {
				Token jsontext.Value `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
	}
	var sdkMessage struct {
		Params sdk.CallToolParamsRaw `json:"params"`
	}
	if jsonv2.Unmarshal(body, &m, jsontext.AllowDuplicateNames(true)) != nil || json.Unmarshal(body, &sdkMessage) != nil {
		return false // an error is never a stream
	}
	op := x.edge.reg.Tool(m.Params.Name)
	return op != nil && op.MayWait && len(m.Params.Meta.Token) > 0
}

// checkMessage returns nil if the message calls a supported method. For any other message, it returns a function that
// sends the response.
func (x *exchange) checkMessage(body []byte) func() {
	// Duplicate members are allowed here, because the tool call rejects them with its own error code. The decoder
	// limits the nesting depth.
	raw, allowDuplicateNames := jsontext.Value(body), jsontext.AllowDuplicateNames(true)
	var m message
	reject := func(rpcErr rpcError) func() {
		return func() { x.writeRPCError(http.StatusBadRequest, nullID, rpcErr) }
	}
	switch {
	case !raw.IsValid(allowDuplicateNames):
		return reject(parseError)
	case raw.Kind() == '[':
		return reject(batchError) // a small batch could request thousands of responses
	case jsonv2.Unmarshal(body, &m, allowDuplicateNames) != nil || m.JSONRPC != "2.0" || !m.hasValidID():
		return reject(invalidMessageError)
	case m.ID.Kind() == '0' && !isSafeInteger(m.ID):
		return reject(invalidIDError)
	case m.ID == nil || m.Method == "":
		// The message is a notification or a response. Without sessions, there is nothing to do.
		return func() { x.w.WriteHeader(http.StatusAccepted) }
	case !supportedMethods[m.Method]:
		return func() { x.rejectCall(m.ID, unknownMethodError) }
	}
	x.method, x.callID, x.version = m.Method, json.RawMessage(m.ID), m.protocolVersion()
	if version := x.r.Header.Get(versionHeader); !x.supportsVersion(version) {
		return func() { x.writeRPCError(http.StatusBadRequest, x.callID, unsupportedVersion(version)) }
	}
	return nil
}

// supportsVersion reports whether the version in the header is supported. It also returns true if the header of a
// sessionless request differs from the version in the message, because the SDK then rejects the request.
func (x *exchange) supportsVersion(header string) bool {
	return header == "" || slices.Contains(sdk.SupportedProtocolVersions(), header) ||
		header > sessionlessVersion && x.version != "" && x.version != header
}

// hasValidID reports whether the ID has a valid type. Only notifications may omit the ID.
func (m message) hasValidID() bool {
	switch m.ID.Kind() {
	case '"', '0':
		return true
	}
	return m.ID == nil && m.Method != "" && !supportedMethods[m.Method]
}

// maxSafeInteger is the largest integer that every JSON parser reads exactly.
const maxSafeInteger = 1<<53 - 1

// isSafeInteger reports whether a number can be returned exactly as it was sent.
func isSafeInteger(id jsontext.Value) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n >= -maxSafeInteger && n <= maxSafeInteger
}

// nullID is the ID in a response to a message without a valid ID.
var nullID = json.RawMessage("null")

// rejectCall responds to a call with an error. In protocol versions before sessionlessVersion, the HTTP status is 200.
func (x *exchange) rejectCall(id jsontext.Value, e rpcError) {
	status := http.StatusOK
	if x.r.Header.Get(versionHeader) >= sessionlessVersion {
		status = http.StatusNotFound
	}
	x.writeRPCError(status, json.RawMessage(id), e)
}

func (x *exchange) writeRPCError(status int, id json.RawMessage, e rpcError) {
	x.w.Header().Set("Content-Type", "application/json")
	x.write(status, x.errorJSON(id, e))
}

func (x *exchange) errorJSON(id json.RawMessage, e rpcError) []byte {
	body, err := json.Marshal(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, e})
	if err != nil {
		x.cause, body = err, []byte("{}")
	}
	return body
}
