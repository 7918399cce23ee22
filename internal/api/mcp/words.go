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

// written is an answer of the SDK's that is not sent yet. A stream of events passes on as it grows.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
	stream http.ResponseWriter // where a stream of events passes to; nil where the answer is none by itself
	passes bool
}

// Header is the one that is sent.
func (w *written) Header() http.Header { return w.header }

// WriteHeader keeps the status, or lets the stream begin.
func (w *written) WriteHeader(status int) {
	w.status = status
	w.passes = w.stream != nil && status == http.StatusOK && strings.HasPrefix(w.header.Get("Content-Type"),
		"text/event-stream")
	if w.passes {
		w.stream.WriteHeader(status)
	}
}

// Write keeps what is no stream of events.
func (w *written) Write(body []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.passes {
		return w.stream.Write(body) //nolint:wrapcheck // it stands in the place of the other
	}
	return w.body.Write(body) //nolint:wrapcheck // it never fails
}

// FlushError sends what has passed.
func (w *written) FlushError() error {
	if !w.passes {
		return nil
	}
	return http.NewResponseController(w.stream).Flush() //nolint:wrapcheck // it stands in the place of the other
}

// hand lets the SDK answer, and sends what it says where that has not passed already.
func (x *exchange) hand(to http.Handler) {
	if made := x.made(to); !made.passes {
		x.deliver(made.status, made.body.Bytes())
	}
}

// made is an answer of the SDK's, with its refusals in our words.
func (x *exchange) made(by http.Handler) *written {
	w := &written{header: x.w.Header()}
	if x.streams {
		w.stream = x.w
	}
	by.ServeHTTP(w, x.r)
	w.status = max(w.status, http.StatusOK) // of one that says nothing
	if !x.own && w.body.Len() > 0 && !bytes.Contains(w.body.Bytes(), resultBegins) {
		x.reword(w)
	}
	return w
}

// reword says in our own words what the SDK refuses by itself: its words are for those who write programs with it, and
// repeat what was sent.
func (x *exchange) reword(w *written) {
	var said struct {
		Error struct {
			Code int64 `json:"code"`
		} `json:"error"`
	}
	e := rpcError{Code: jsonrpc.CodeInvalidRequest}
	switch {
	case json.Unmarshal(w.body.Bytes(), &said) != nil:
		e.Message = wordsOf(w.body.String())
	case said.Error.Code == sdk.CodeUnsupportedProtocolVersion:
		e = unspoken(x.version)
	case said.Error.Code == 0 && x.rpc == initialize: // what cannot be read of it has no code
		e = rpcError{jsonrpc.CodeInvalidParams, x.wordsFor(jsonrpc.CodeInvalidParams), nil}
	case said.Error.Code == 0: // what failed within the SDK
		e = rpcError{jsonrpc.CodeInternalError, x.wordsFor(jsonrpc.CodeInternalError), nil}
	default:
		e = rpcError{said.Error.Code, x.wordsFor(said.Error.Code), nil}
	}
	w.body.Reset()
	w.body.Write(x.errorText(x.rpcID, e))
	w.header.Set("Content-Type", "application/json")
}

// wordsOf says what the SDK means by those of its sentences that name no member of a message.
func wordsOf(said string) string {
	for begins, ours := range map[string]string{
		"Content-Type":           "Send the body as application/json.",
		"Accept":                 "The header Accept has to name application/json and text/event-stream.",
		"can't send Last-Event":  "Nothing is read on here: leave the header Last-Event-ID out.",
		"invalid request: missi": "This method needs params.",
	} {
		if strings.HasPrefix(said, begins) {
			return ours
		}
	}
	return notAMessage.Message
}

// wordsFor are the words for a code of the protocol.
func (x *exchange) wordsFor(code int64) string {
	switch code {
	case jsonrpc.CodeInvalidParams:
		if x.r.Header.Get(versionHeader) >= sessionless {
			return "The params have not the form that this method takes. Their _meta has to hold " +
				sdk.MetaKeyProtocolVersion + " and " + sdk.MetaKeyClientCapabilities + "."
		}
		return "The params have not the form that this method takes."
	case jsonrpc.CodeMethodNotFound:
		return "There is no such method in this version of the protocol."
	case sdk.CodeHeaderMismatch:
		return "The headers Mcp-Protocol-Version, Mcp-Method and Mcp-Name have to say what the message says."
	case sdk.CodeMissingRequiredClientCapabilities:
		return "The client does not say that it can do what this needs."
	case jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError:
		return notAMessage.Message
	}
	return "Something failed on our side."
}

const versionHeader = "Mcp-Protocol-Version"

// versionForm is how versions are written, those of the protocol as dates: a few numbers, in which nothing is hidden.
var versionForm = regexp.MustCompile(`^v?\d{1,4}(?:[.-]\d{1,4}){1,2}$`)

// unspoken refuses a version of the protocol. Its data names those that are spoken, and the one that was asked for
// where it has the form of one, as the protocol wants both.
func unspoken(asked string) rpcError {
	data := sdk.UnsupportedProtocolVersionData{Supported: sdk.SupportedProtocolVersions()}
	if versionForm.MatchString(asked) {
		data.Requested = asked
	}
	return rpcError{
		sdk.CodeUnsupportedProtocolVersion,
		"This version of the protocol is not spoken here; data names those that are.", data,
	}
}
