package mcp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/core/operation"
)

const (
	promptRef     = "ref/prompt"
	resourceRef   = "ref/resource"
	maxCompletion = 50 // maximum number of values, the same as on a page of a list
)

// completionTarget is the argument to complete. If the argument is free text, exists is true and readOperation is nil.
type completionTarget struct {
	exists         bool
	readOperation  *operation.Operation
	argument       string
	otherArguments map[string]string // values of the operation's other arguments that are already known
}

// complete suggests values for an argument of a prompt or a variable of a resource URI. It gets IDs, newest first, from
// the operation that lists the items, and enum values from the schema.
func (x *exchange) complete(ctx context.Context, c catalog, params *sdk.CompleteParams) (*sdk.CompleteResult, error) {
	target := c.findTarget(params)
	if !target.exists {
		return nil, x.notFound("Unknown prompt, resource or argument: nothing to complete.")
	}
	list := c.listOperation(target)
	if list == nil {
		if err := x.admit(); err != nil { // counts the request, because no operation is called
			return nil, x.protocolError(err)
		}
		return newCompletion(target.enumValues(params.Argument.Value), false), nil
	}
	items, hasMore, err := x.items(ctx, list, maxCompletion)
	if err != nil {
		return nil, err
	}
	return newCompletion(target.matches(items, params.Argument.Value), hasMore), nil
}

func (c catalog) findTarget(params *sdk.CompleteParams) completionTarget {
	otherArguments := map[string]string{}
	if params.Context != nil {
		otherArguments = params.Context.Arguments
	}
	if params.Ref.Type == promptRef {
		return c.promptTarget(params.Ref.Name, params.Argument.Name, otherArguments)
	}
	for _, op := range c.reads {
		if params.Ref.Type == resourceRef && params.Ref.URI == scheme+op.Resource.Address &&
			slices.Contains(op.InPath, params.Argument.Name) {
			return completionTarget{true, op, params.Argument.Name, otherArguments}
		}
	}
	return completionTarget{}
}

// promptTarget returns the operation's argument that a prompt's argument stands for.
func (c catalog) promptTarget(name, argument string, otherArguments map[string]string) completionTarget {
	target := completionTarget{otherArguments: map[string]string{}}
	p := findPrompt(name)
	if p == nil {
		return target
	}
	for _, a := range p.arguments {
		if a.name == argument {
			target.exists, target.readOperation, target.argument = true, c.registry.Tool(a.operation), a.argument
		}
		if a.operation != "" && otherArguments[a.name] != "" {
			target.otherArguments[a.argument] = otherArguments[a.name]
		}
	}
	return target
}

// listOperation returns the operation that lists the argument's possible values, or nil if there is none.
func (c catalog) listOperation(target completionTarget) *operation.Operation {
	if target.readOperation == nil || len(target.readOperation.Input.Properties[target.argument].Enum) > 0 {
		return nil
	}
	for _, list := range c.lists {
		if list.Listing.Item == target.readOperation.Tool && list.Listing.Arguments[target.argument] != "" {
			return list
		}
	}
	return nil
}

// matches returns the values of the items whose value begins with input or whose label contains it. It omits items that
// do not match the known values of the other arguments.
func (t completionTarget) matches(items []item, input string) []string {
	values := []string{}
	input = strings.ToLower(strings.TrimSpace(input))
	for _, it := range items {
		value := it.arguments[t.argument]
		isMatch := strings.HasPrefix(strings.ToLower(value), input) || strings.Contains(strings.ToLower(it.label), input)
		if isMatch && t.isConsistent(it) && !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// isConsistent reports whether an item matches the known values of the other arguments.
func (t completionTarget) isConsistent(it item) bool {
	for name, value := range it.arguments {
		if otherValue := t.otherArguments[name]; otherValue != "" && name != t.argument && otherValue != value {
			return false
		}
	}
	return true
}

// enumValues returns the argument's enum values that begin with input. It returns an empty slice if the argument is
// free text.
func (t completionTarget) enumValues(input string) []string {
	values := []string{}
	if t.readOperation == nil {
		return values
	}
	for _, value := range t.readOperation.Input.Properties[t.argument].Enum {
		if text, isText := value.(string); isText && strings.HasPrefix(text, strings.ToLower(strings.TrimSpace(input))) {
			values = append(values, text)
		}
	}
	return values
}

func newCompletion(values []string, hasMore bool) *sdk.CompleteResult {
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, HasMore: hasMore}}
}
