package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

const (
	scheme               = "pressroom://"
	mimeJSON             = "application/json"
	maxListedItems       = 10     // maximum number of items of each kind in the list of resources
	notFoundWithSessions = -32002 // error code for an unknown resource in protocol versions with sessions
)

// unknownResource is the error message for an invalid URI and for a missing item.
const unknownResource = "Unknown resource. " +
	"Call resources/list for the newest resources, or resources/templates/list for the URI templates."

// catalog holds the operations that serve resources and completions.
type catalog struct {
	registry *operation.Registry
	reads    []*operation.Operation // each has a Resource
	lists    []*operation.Operation // each has a Listing
}

func newCatalog(reg *operation.Registry) catalog {
	c := catalog{registry: reg}
	for _, op := range reg.All() {
		if op.Resource != nil {
			c.reads = append(c.reads, op)
		}
		if op.Listing != nil {
			c.lists = append(c.lists, op)
		}
	}
	return c
}

// addResourceTemplates adds the resource templates to the server.
func (c catalog) addResourceTemplates(server *sdk.Server) {
	for _, op := range c.reads {
		server.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: op.Tool, Title: op.Resource.Title, Description: op.FullDescription(), MIMEType: mimeJSON,
			URITemplate: scheme + op.Resource.Address,
		}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return exchangeFrom(ctx).read(ctx, c, req.Params.URI)
		})
	}
}

// find returns the operation that serves a URI, and the arguments parsed from the URI. It returns nil if there is none.
func (c catalog) find(uri string) (*operation.Operation, operation.Arguments) {
	path, hasScheme := strings.CutPrefix(uri, scheme)
	if !hasScheme {
		return nil, nil
	}
	segments := strings.Split(path, "/")
	for _, op := range c.reads {
		if args, ok := matchPattern(op, strings.Split(op.Resource.Address, "/"), segments); ok {
			return op, args
		}
	}
	return nil, nil
}

func matchPattern(op *operation.Operation, pattern, segments []string) (operation.Arguments, bool) {
	if len(pattern) != len(segments) {
		return nil, false
	}
	args := operation.Arguments{}
	for i, part := range pattern {
		name, isVariable := parseVariable(part)
		text, err := url.PathUnescape(segments[i])
		switch {
		case err != nil, !isVariable && part != text, isVariable && !op.IsValidPathArgument(name, text):
			return nil, false
		case isVariable:
			args[name] = op.PathValue(name, text)
		}
	}
	return args, true
}

func parseVariable(part string) (string, bool) {
	name, isVariable := strings.CutPrefix(part, "{")
	return strings.TrimSuffix(name, "}"), isVariable
}

// read serves resources/read by running the operation of the matching tool, with the same checks, limits and errors.
func (x *exchange) read(ctx context.Context, c catalog, uri string) (*sdk.ReadResourceResult, error) {
	op, args := c.find(uri)
	if op == nil {
		return nil, x.notFound(unknownResource)
	}
	outcome, err := x.run(ctx, pipeline.Request{Operation: op, Arguments: func() (operation.Arguments, error) {
		return args, nil
	}})
	if err != nil {
		return nil, x.protocolError(err)
	}
	envelope := outcome.Envelope(x.edge.opts.PublicURL)
	body, err := marshal(op, envelope)
	if err != nil {
		return nil, x.protocolError(err)
	}
	texts, err := splitUntrusted(op, envelope, body)
	if err != nil {
		return nil, x.protocolError(err)
	}
	contents := []*sdk.ResourceContents{{URI: uri, MIMEType: mimeJSON, Text: texts[0]}}
	if len(texts) > 1 {
		contents = append(contents,
			&sdk.ResourceContents{
				URI: uri + "#untrusted_content", MIMEType: "text/plain", Text: texts[1],
				Meta: sdk.Meta{untrustedMetaKey: true},
			})
	}
	return &sdk.ReadResourceResult{Contents: contents}, nil
}

// newestResources returns the newest items of each kind.
func (x *exchange) newestResources(ctx context.Context, c catalog) ([]*sdk.Resource, error) {
	out := []*sdk.Resource{}
	for _, list := range c.lists {
		read := c.readOperation(list)
		if read == nil {
			continue
		}
		items, _, err := x.items(ctx, list, maxListedItems)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			out = append(out, &sdk.Resource{
				URI: scheme + it.expand(read.Resource.Address), Name: it.expand(read.Resource.Address), Title: it.label,
				MIMEType: mimeJSON, Description: read.Resource.Title,
			})
		}
	}
	return out, nil
}

// readOperation returns the operation that reads the items of a list as resources, or nil.
func (c catalog) readOperation(list *operation.Operation) *operation.Operation {
	for _, op := range c.reads {
		if op.Tool == list.Listing.Item {
			return op
		}
	}
	return nil
}

// item is an item of a list. arguments holds the arguments, as strings, of the operation that reads the item.
type item struct {
	arguments map[string]string
	label     string
}

// expand replaces the variables of a path template with the item's arguments.
func (it item) expand(template string) string {
	for name, value := range it.arguments {
		template = strings.ReplaceAll(template, "{"+name+"}", url.PathEscape(value))
	}
	return template
}

// items runs a list operation through the pipeline. It returns up to limit items and reports whether there are more.
func (x *exchange) items(ctx context.Context, op *operation.Operation, limit int) ([]item, bool, error) {
	args := operation.Arguments{}
	if op.Input.Properties["limit"] != nil {
		args["limit"] = int64(limit)
	}
	outcome, err := x.run(ctx, pipeline.Request{Operation: op, Arguments: func() (operation.Arguments, error) {
		return args, nil
	}})
	if err != nil {
		return nil, false, x.protocolError(err)
	}
	items, err := parseItems(op, outcome.Data)
	if err != nil {
		return nil, false, x.protocolError(err)
	}
	hasMore := outcome.Page != nil && outcome.Page.HasMore || len(items) > limit
	return items[:min(len(items), limit)], hasMore, nil
}

func parseItems(list *operation.Operation, data any) ([]item, error) {
	body, err := marshal(list, data)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	var records []map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("parsing the response of %s: %w", list.Tool, err)
	}
	if err := json.Unmarshal(members[list.Listing.Member], &records); err != nil {
		return nil, fmt.Errorf("parsing the items of %s: %w", list.Tool, err)
	}
	out := make([]item, 0, len(records))
	for _, r := range records {
		it := item{arguments: map[string]string{}}
		for argument, member := range list.Listing.Arguments {
			it.arguments[argument] = formatID(r[member])
		}
		it.label = newLabel(r, list.Listing.Label)
		out = append(out, it)
	}
	return out, nil
}

// formatID returns an ID or a string as it appears in a URI. IDs are below 2^53, so a float64 represents them exactly.
func formatID(value any) string {
	if n, isNumber := value.(float64); isNumber {
		return fmt.Sprintf("%.0f", n)
	}
	text, _ := value.(string)
	return text
}

// newLabel joins the given members of a record to form its label.
func newLabel(record map[string]any, members []string) string {
	var words []string
	for _, member := range members {
		if text := formatID(record[member]); text != "" {
			words = append(words, text)
		}
	}
	return truncate(strings.Join(strings.Fields(strings.Join(words, ", ")), " "))
}

const maxLabel = 80 // maximum number of characters in a label

func truncate(text string) string {
	if runes := []rune(text); len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return text
}

// protocolError returns a JSON-RPC error for methods whose results cannot contain errors. The error's data is the
// problem document.
func (x *exchange) protocolError(err error) error {
	doc := x.recordProblem(err)
	data, err := json.Marshal(doc)
	if err != nil {
		x.cause, data = err, []byte("{}")
	}
	e := x.newError(x.rpcCode(doc.Code), errorSummary(doc))
	e.Data = data
	return e
}

// codes maps API error codes to JSON-RPC codes. For other codes, rpcCode returns defaultErrorCode.
var codes = map[apierr.Code]int64{
	apierr.NotFound: jsonrpc.CodeInvalidParams, apierr.ValidationFailed: jsonrpc.CodeInvalidParams,
	apierr.Internal: jsonrpc.CodeInternalError,
}

// defaultErrorCode is the default JSON-RPC code. It is in the range that JSON-RPC reserves for servers.
const defaultErrorCode = -32000

func (x *exchange) rpcCode(code apierr.Code) int64 {
	number, ok := codes[code]
	switch {
	case code == apierr.NotFound && x.r.Header.Get(versionHeader) < sessionlessVersion:
		return notFoundWithSessions
	case ok:
		return number
	}
	return defaultErrorCode
}

// notFound returns an error with the given message, which must not contain user input. It also counts the request
// toward the rate limit, because no operation was called.
func (x *exchange) notFound(message string) error {
	if err := x.admit(); err != nil {
		return x.protocolError(err)
	}
	code := int64(jsonrpc.CodeInvalidParams)
	if x.method == methodReadResource && message == unknownResource {
		code = x.rpcCode(apierr.NotFound)
	}
	return x.newError(code, message)
}

// newError returns a JSON-RPC error that is sent unchanged.
func (x *exchange) newError(code int64, message string) *jsonrpc.Error {
	x.isOwnError = true
	return &jsonrpc.Error{Code: code, Message: message}
}
