package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom/internal/core/operation"
)

const (
	ofPrompt      = "ref/prompt"
	ofResource    = "ref/resource"
	maxCompletion = 50 // values; it is what a page of a list holds
)

// wanted is what a completion is asked for: an argument of an operation, and those of its arguments that are given
// already. An argument that takes any text is known and has no operation.
type wanted struct {
	known    bool
	read     *operation.Operation
	argument string
	given    map[string]string
}

// complete offers values for an argument of a prompt, or for a variable of a resource's address. Ids come from the
// operation that lists the items, newest first; words that are always the same come from the schema.
func (x *exchange) complete(ctx context.Context, c catalogue, params *sdk.CompleteParams) (*sdk.CompleteResult, error) {
	w := c.wanted(params)
	if !w.known {
		return nil, x.noSuch("There is nothing to complete here: no such prompt, resource or argument.")
	}
	list := c.listing(w)
	if list == nil {
		if err := x.count(); err != nil { // no operation is called
			return nil, x.rpcRefusal(err)
		}
		return completion(w.words(params.Argument.Value), false), nil
	}
	items, more, err := x.items(ctx, list, maxCompletion)
	if err != nil {
		return nil, err
	}
	return completion(w.fitting(items, params.Argument.Value), more), nil
}

// wanted finds what is asked for; without a read where there is no such thing.
func (c catalogue) wanted(params *sdk.CompleteParams) wanted {
	given := map[string]string{}
	if params.Context != nil {
		given = params.Context.Arguments
	}
	if params.Ref.Type == ofPrompt {
		return c.wantedOfPrompt(params.Ref.Name, params.Argument.Name, given)
	}
	for _, op := range c.reads {
		if params.Ref.Type == ofResource && params.Ref.URI == scheme+op.Resource.Address && slices.Contains(op.InPath,
			params.Argument.Name) {
			return wanted{true, op, params.Argument.Name, given}
		}
	}
	return wanted{}
}

// wantedOfPrompt finds it by a prompt's argument, which stands for one of an operation.
func (c catalogue) wantedOfPrompt(name, asked string, given map[string]string) wanted {
	w := wanted{given: map[string]string{}}
	p := promptNamed(name)
	if p == nil {
		return w
	}
	for _, a := range p.arguments {
		if a.name == asked {
			w.known, w.read, w.argument = true, c.registry.Tool(a.of), a.argument
		}
		if a.of != "" && given[a.name] != "" {
			w.given[a.argument] = given[a.name]
		}
	}
	return w
}

// listing is the operation whose items give the argument its values; nil where there is none, or where its values are
// words that are always the same.
func (c catalogue) listing(w wanted) *operation.Operation {
	if w.read == nil || len(w.read.Input.Properties[w.argument].Enum) > 0 {
		return nil
	}
	for _, list := range c.lists {
		if list.Listing.Item == w.read.Tool && list.Listing.Arguments[w.argument] != "" {
			return list
		}
	}
	return nil
}

// fitting are the values of items that agree with the arguments given already, and whose value begins with what was
// typed, or whose name holds it.
func (w wanted) fitting(items []item, typed string) []string {
	values := []string{}
	typed = strings.ToLower(strings.TrimSpace(typed))
	for _, it := range items {
		value := it.arguments[w.argument]
		known := strings.HasPrefix(strings.ToLower(value), typed) || strings.Contains(strings.ToLower(it.label), typed)
		if known && w.agrees(it) && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// agrees tells whether an item is one of those that the arguments given already leave.
func (w wanted) agrees(it item) bool {
	for name, value := range it.arguments {
		if given := w.given[name]; given != "" && name != w.argument && given != value {
			return false
		}
	}
	return true
}

// words are those that the argument takes and that begin with what was typed; none where it takes any text.
func (w wanted) words(typed string) []string {
	values := []string{}
	if w.read == nil {
		return values
	}
	for _, word := range w.read.Input.Properties[w.argument].Enum {
		if text, isText := word.(string); isText && strings.HasPrefix(text, strings.ToLower(strings.TrimSpace(typed))) {
			values = append(values, text)
		}
	}
	return values
}

func completion(values []string, more bool) *sdk.CompleteResult {
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, HasMore: more}}
}
