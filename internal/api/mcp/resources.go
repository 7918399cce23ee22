package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
)

const (
	scheme      = "pressroom://"
	asDocument  = "application/json"
	newest      = 10     // how many items of each kind the list of resources holds
	notFoundOld = -32002 // how the versions before the sessionless one call a resource that is not there
)

// noResource is said of every address that leads to nothing, whether it has not the form of one here or its item is
// not there.
const noResource = "There is no such resource. resources/list names some, resources/templates/list their forms."

// catalogue is what the registry offers as resources, and to complete arguments with.
type catalogue struct {
	registry *operation.Registry
	reads    []*operation.Operation // each has a Resource
	lists    []*operation.Operation // each has a Listing
}

func newCatalogue(reg *operation.Registry) catalogue {
	c := catalogue{registry: reg}
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

// addTo tells the server of the kinds of resources there are.
func (c catalogue) addTo(server *sdk.Server) {
	for _, op := range c.reads {
		server.AddResourceTemplate(&sdk.ResourceTemplate{
			Name: op.Tool, Title: op.Resource.Title, Description: op.FullDescription(), MIMEType: asDocument,
			URITemplate: scheme + op.Resource.Address,
		}, func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return exchangeOf(ctx).read(ctx, c, req.Params.URI)
		})
	}
}

// find is the operation that reads an address, with the arguments that stand in it; nil where there is none.
func (c catalogue) find(uri string) (*operation.Operation, operation.Arguments) {
	path, ours := strings.CutPrefix(uri, scheme)
	if !ours {
		return nil, nil
	}
	given := strings.Split(path, "/")
	for _, op := range c.reads {
		if args, fits := match(op, strings.Split(op.Resource.Address, "/"), given); fits {
			return op, args
		}
	}
	return nil, nil
}

func match(op *operation.Operation, pattern, given []string) (operation.Arguments, bool) {
	if len(pattern) != len(given) {
		return nil, false
	}
	args := operation.Arguments{}
	for i, part := range pattern {
		name, variable := variableOf(part)
		text, err := url.PathUnescape(given[i])
		switch {
		case err != nil, !variable && part != text, variable && !op.PathFits(name, text):
			return nil, false
		case variable:
			args[name] = op.PathValue(name, text)
		}
	}
	return args, true
}

func variableOf(part string) (string, bool) {
	name, open := strings.CutPrefix(part, "{")
	return strings.TrimSuffix(name, "}"), open
}

// read answers resources/read by the operation that a tool of the same item would call: the same checks, limits,
// counting and refusals.
func (x *exchange) read(ctx context.Context, c catalogue, uri string) (*sdk.ReadResourceResult, error) {
	op, args := c.find(uri)
	if op == nil {
		return nil, x.noSuch(noResource)
	}
	outcome, err := x.run(ctx, pipeline.Request{Operation: op, Arguments: func() (operation.Arguments, error) {
		return args, nil
	}})
	if err != nil {
		return nil, x.rpcRefusal(err)
	}
	whole := outcome.Envelope(x.edge.opts.PublicURL)
	body, err := asJSON(op, whole)
	if err != nil {
		return nil, x.rpcRefusal(err)
	}
	texts, err := apart(op, whole, body)
	if err != nil {
		return nil, x.rpcRefusal(err)
	}
	contents := []*sdk.ResourceContents{{URI: uri, MIMEType: asDocument, Text: texts[0]}}
	if len(texts) > 1 {
		contents = append(contents,
			&sdk.ResourceContents{
				URI: uri + "#untrusted_content", MIMEType: "text/plain", Text: texts[1],
				Meta: sdk.Meta{untrustedMark: true},
			})
	}
	return &sdk.ReadResourceResult{Contents: contents}, nil
}

// listed are the newest items of each kind of resource, asked for by the operations that list them.
func (x *exchange) listed(ctx context.Context, c catalogue) ([]*sdk.Resource, error) {
	out := []*sdk.Resource{}
	for _, list := range c.lists {
		read := c.reading(list)
		if read == nil {
			continue
		}
		items, _, err := x.items(ctx, list, newest)
		if err != nil {
			return nil, err
		}
		for _, it := range items {
			out = append(out, &sdk.Resource{
				URI: scheme + it.fill(read.Resource.Address), Name: it.fill(read.Resource.Address), Title: it.label,
				MIMEType:    asDocument,
				Description: read.Resource.Title,
			})
		}
	}
	return out, nil
}

// reading is the operation that reads the items of a list as resources; nil where they are none.
func (c catalogue) reading(list *operation.Operation) *operation.Operation {
	for _, op := range c.reads {
		if op.Tool == list.Listing.Item {
			return op
		}
	}
	return nil
}

// item is one of a list: the arguments by which it is read, as texts, and what people know it by.
type item struct {
	arguments map[string]string
	label     string
}

// fill puts the item's arguments into an address.
func (i item) fill(address string) string {
	for name, value := range i.arguments {
		address = strings.ReplaceAll(address, "{"+name+"}", url.PathEscape(value))
	}
	return address
}

// items asks a listing operation for its first items, through the pipeline, and tells whether there are more.
func (x *exchange) items(ctx context.Context, list *operation.Operation, limit int) ([]item, bool, error) {
	args := operation.Arguments{}
	if list.Input.Properties["limit"] != nil {
		args["limit"] = int64(limit)
	}
	outcome, err := x.run(ctx, pipeline.Request{Operation: list, Arguments: func() (operation.Arguments, error) {
		return args, nil
	}})
	if err != nil {
		return nil, false, x.rpcRefusal(err)
	}
	found, err := itemsOf(list, outcome.Data)
	if err != nil {
		return nil, false, x.rpcRefusal(err)
	}
	more := outcome.Page != nil && outcome.Page.HasMore || len(found) > limit
	return found[:min(len(found), limit)], more, nil
}

func itemsOf(list *operation.Operation, data any) ([]item, error) {
	body, err := asJSON(list, data)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	var records []map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, fmt.Errorf("reading an answer of %s: %w", list.Tool, err)
	}
	if err := json.Unmarshal(members[list.Listing.Member], &records); err != nil {
		return nil, fmt.Errorf("reading the items of %s: %w", list.Tool, err)
	}
	out := make([]item, 0, len(records))
	for _, r := range records {
		it := item{arguments: map[string]string{}}
		for argument, member := range list.Listing.Arguments {
			it.arguments[argument] = plain(r[member])
		}
		it.label = labelOf(r, list.Listing.Label)
		out = append(out, it)
	}
	return out, nil
}

// plain is an id or a word as it stands in an address. JSON's numbers are exact below 2^53, and so are our ids.
func plain(value any) string {
	if n, isNumber := value.(float64); isNumber {
		return fmt.Sprintf("%.0f", n)
	}
	text, _ := value.(string)
	return text
}

// labelOf joins what is there of the members that people know an item by.
func labelOf(record map[string]any, members []string) string {
	var words []string
	for _, member := range members {
		if text := plain(record[member]); text != "" {
			words = append(words, text)
		}
	}
	return shortened(strings.Join(strings.Fields(strings.Join(words, ", ")), " "))
}

// maxLabel is how many characters of a text are enough to know an item by.
const maxLabel = 80

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return text
}

// rpcRefusal is a refusal as an error of the protocol, for what has no result that could say it. Its data is the
// problem document.
func (x *exchange) rpcRefusal(err error) error {
	doc := x.refused(err)
	data, err := json.Marshal(doc)
	if err != nil {
		x.cause, data = err, []byte("{}")
	}
	e := x.says(x.codeOf(doc.Code), refusalSummary(doc))
	e.Data = data
	return e
}

// codes are the protocol's numbers for kinds of refusals. What has none is refusedByRule.
var codes = map[apierr.Code]int64{
	apierr.NotFound: jsonrpc.CodeInvalidParams, apierr.ValidationFailed: jsonrpc.CodeInvalidParams,
	apierr.Internal: jsonrpc.CodeInternalError,
}

// refusedByRule is in the range that JSON-RPC leaves to servers.
const refusedByRule = -32000

func (x *exchange) codeOf(code apierr.Code) int64 {
	number, known := codes[code]
	switch {
	case code == apierr.NotFound && x.r.Header.Get(versionHeader) < sessionless:
		return notFoundOld
	case known:
		return number
	}
	return refusedByRule
}

// noSuch answers for what is not there, counting the request, as no operation did. It never repeats what was sent.
func (x *exchange) noSuch(words string) error {
	if err := x.count(); err != nil {
		return x.rpcRefusal(err)
	}
	code := int64(jsonrpc.CodeInvalidParams)
	if x.rpc == readResource && words == noResource {
		code = x.codeOf(apierr.NotFound)
	}
	return x.says(code, words)
}

// says makes an error of the protocol in our words, which is sent as it is.
func (x *exchange) says(code int64, words string) *jsonrpc.Error {
	x.own = true
	return &jsonrpc.Error{Code: code, Message: words}
}
