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

// sessionless is the first version of the protocol without sessions, which gives errors an HTTP status.
const sessionless = "2026-07-28"

// initialize begins a session in the versions that have them.
const initialize = "initialize"

// served holds the methods that are answered. All else of the protocol (logging, subscriptions) is not there, and the
// server's capabilities say so.
var served = map[string]bool{
	initialize: true, "ping": true, "server/discover": true, listTools: true, toolCall: true, "prompts/list": true,
	"prompts/get":              true,
	"resources/templates/list": true, listResources: true, readResource: true, complete: true,
}

// piped holds the methods whose work is calls of operations, which the pipeline counts.
var piped = map[string]bool{toolCall: true, listResources: true, readResource: true, complete: true}

var (
	foreignOrigin = rpcError{jsonrpc.CodeInvalidRequest, "Pages of another origin may not call the tools.", nil}
	parseError    = rpcError{jsonrpc.CodeParseError, "The body is not JSON in UTF-8.", nil}
	batchRefused  = rpcError{jsonrpc.CodeInvalidRequest, "Send one message a request; batches are not taken.", nil}
	notAMessage   = rpcError{jsonrpc.CodeInvalidRequest, "The body is not a JSON-RPC message.", nil}
	badID         = rpcError{
		jsonrpc.CodeInvalidRequest,
		"An id is a text, or a whole number between -9007199254740991 and 9007199254740991.", nil,
	}
	tooLarge     = rpcError{jsonrpc.CodeInvalidRequest, "The body is larger than 1 MiB. Nothing was done.", nil}
	cutShort     = rpcError{jsonrpc.CodeParseError, "The body did not arrive whole.", nil}
	noSuchMethod = rpcError{jsonrpc.CodeMethodNotFound, "There is no such method here.", nil}
)

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// message is what is looked at of a JSON-RPC message before the SDK reads it.
type message struct {
	Tag    string         `json:"jsonrpc"`
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params jsontext.Value `json:"params"`
}

// version is the one that a message of the sessionless protocol names.
func (m message) version() string {
	var params struct {
		Meta map[string]jsontext.Value `json:"_meta"`
	}
	var named string
	_ = jsonv2.Unmarshal(m.Params, &params, jsontext.AllowDuplicateNames(true)) // what it is not, the SDK refuses
	_ = jsonv2.Unmarshal(params.Meta[sdk.MetaKeyProtocolVersion], &named)
	return named
}

// Methods that call operations.
const (
	toolCall      = "tools/call"
	listResources = "resources/list"
	readResource  = "resources/read"
	complete      = "completion/complete"
)

// wantsProgress tells whether a message calls a tool that may wait and wants to hear how that goes. Such an answer is a
// stream; every other one is plain JSON, which proxies and clients pass on with the least trouble.
func (x *exchange) wantsProgress(body []byte) bool {
	if x.rpc != toolCall {
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
	var asSDK struct {
		Params sdk.CallToolParamsRaw `json:"params"`
	}
	if jsonv2.Unmarshal(body, &m, jsontext.AllowDuplicateNames(true)) != nil || json.Unmarshal(body, &asSDK) != nil {
		return false // it is refused, and no refusal is a stream
	}
	op := x.edge.reg.Tool(m.Params.Name)
	return op != nil && op.Waits && len(m.Params.Meta.Token) > 0
}

// settle finds the answer to what the SDK need not see, which is all but a call of a method that is served; nil for
// such a call.
func (x *exchange) settle(body []byte) func() {
	// A member twice is for the tool call to refuse, with the contract's reason. The decoder bounds the depth.
	raw, lax := jsontext.Value(body), jsontext.AllowDuplicateNames(true)
	var m message
	switch {
	case !raw.IsValid(lax):
		return func() { x.reject(http.StatusBadRequest, parseError) }
	case raw.Kind() == '[':
		// Only versions before 2025-06-18 have batches: a small request could ask for thousands of answers at once.
		return func() { x.reject(http.StatusBadRequest, batchRefused) }
	case jsonv2.Unmarshal(body, &m, lax) != nil || m.Tag != "2.0" || !m.sound():
		return func() { x.reject(http.StatusBadRequest, notAMessage) }
	case m.ID.Kind() == '0' && !whole(m.ID):
		return func() { x.reject(http.StatusBadRequest, badID) }
	case m.ID == nil || m.Method == "":
		// a notification, or an answer: without sessions there is nothing to do about either
		return func() { x.w.WriteHeader(http.StatusAccepted) }
	case !served[m.Method]:
		return func() { x.rejectCall(m.ID, noSuchMethod) }
	}
	x.rpc, x.rpcID, x.version = m.Method, json.RawMessage(m.ID), m.version()
	if asked := x.r.Header.Get(versionHeader); !x.speaks(asked) {
		return func() { x.writeError(http.StatusBadRequest, x.rpcID, unspoken(asked)) }
	}
	return nil
}

// speaks tells whether a version that a header asks for is spoken here. Where the message says another one than its
// header does, that is what is wrong with it.
func (x *exchange) speaks(asked string) bool {
	return asked == "" || slices.Contains(sdk.SupportedProtocolVersions(), asked) ||
		asked > sessionless && x.version != "" && x.version != asked
}

// sound tells whether an id is one, and whether a call of a served method has one: it would wait for its answer.
func (m message) sound() bool {
	switch m.ID.Kind() {
	case '"', '0':
		return true
	}
	return m.ID == nil && m.Method != "" && !served[m.Method]
}

// maxID is the largest number that every reader of JSON gives back as it was.
const maxID = 1<<53 - 1

// whole tells whether a number can be given back as the id that it was sent as.
func whole(id jsontext.Value) bool {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && n >= -maxID && n <= maxID
}

// reject answers what is no call with a JSON-RPC error.
func (x *exchange) reject(status int, e rpcError) { x.writeError(status, json.RawMessage("null"), e) }

// rejectCall answers a call: in the older versions of the protocol an error of a call is no error of HTTP.
func (x *exchange) rejectCall(id jsontext.Value, e rpcError) {
	status := http.StatusOK
	if x.r.Header.Get(versionHeader) >= sessionless {
		status = http.StatusNotFound
	}
	x.writeError(status, json.RawMessage(id), e)
}

func (x *exchange) writeError(status int, id json.RawMessage, e rpcError) {
	x.w.Header().Set("Content-Type", "application/json")
	x.deliver(status, x.errorText(id, e))
}

func (x *exchange) errorText(id json.RawMessage, e rpcError) []byte {
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
