package mcp

import (
	"encoding/json"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// sessionless is the first version of the protocol without sessions, which gives errors an HTTP status.
const sessionless = "2026-07-28"

// served holds the methods that are answered. All else of the protocol (logging, subscriptions) is not there, and the
// server's capabilities say so.
var served = map[string]bool{
	"initialize": true, "ping": true, "server/discover": true, listTools: true, toolCall: true, "prompts/list": true, "prompts/get": true,
	"resources/templates/list": true, listResources: true, readResource: true, complete: true,
}

// piped holds the methods whose work is calls of operations, which the pipeline counts.
var piped = map[string]bool{toolCall: true, listResources: true, readResource: true, complete: true}

var (
	foreignOrigin = rpcError{jsonrpc.CodeInvalidRequest, "Pages of another origin may not call the tools."}
	parseError    = rpcError{jsonrpc.CodeParseError, "The body is not JSON in UTF-8."}
	batchRefused  = rpcError{jsonrpc.CodeInvalidRequest, "Send one message a request; batches are not taken."}
	notAMessage   = rpcError{jsonrpc.CodeInvalidRequest, "The body is not a JSON-RPC message."}
	noSuchMethod  = rpcError{jsonrpc.CodeMethodNotFound, "There is no such method here."}
)

type rpcError struct {
	Code    int64  `json:"code"`
	Message string `json:"message"`
}

// message is what is looked at of a JSON-RPC message before the SDK reads it.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
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
	if jsonv2.Unmarshal(body, &m, jsontext.AllowDuplicateNames(true)) != nil {
		return false // the SDK says what is wrong with it
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
	case jsonv2.Unmarshal(body, &m, lax) != nil || !m.sound():
		return func() { x.reject(http.StatusBadRequest, notAMessage) }
	case m.ID == nil || m.Method == "":
		return func() { x.w.WriteHeader(http.StatusAccepted) } // a notification, or an answer: without sessions there is nothing to do about either
	case !served[m.Method]:
		return func() { x.rejectCall(m.ID, noSuchMethod) }
	}
	x.rpc = m.Method
	return nil
}

// sound tells whether an id is one, and whether a call of a served method has one: it would wait for its answer.
func (m message) sound() bool {
	switch m.ID.Kind() {
	case '"', '0':
		return true
	}
	return m.ID == nil && m.Method != "" && !served[m.Method]
}

// reject answers what is no call with a JSON-RPC error.
func (x *exchange) reject(status int, e rpcError) { x.writeError(status, json.RawMessage("null"), e) }

// rejectCall answers a call: in the older versions of the protocol an error of a call is no error of HTTP.
func (x *exchange) rejectCall(id jsontext.Value, e rpcError) {
	status := http.StatusOK
	if x.r.Header.Get("Mcp-Protocol-Version") >= sessionless {
		status = http.StatusNotFound
	}
	x.writeError(status, json.RawMessage(id), e)
}

func (x *exchange) writeError(status int, id json.RawMessage, e rpcError) {
	x.write(status, "application/json", struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, e})
}
