package mcp

import (
	"context"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
)

// selection is the selection of tools in a client's URL, such as /mcp?toolsets=posts,media&read_only=1.
type selection struct {
	toolsets []string // empty selects all toolsets
	readOnly bool
}

// parseSelection parses the query of a URL. It ignores unknown parameters.
func parseSelection(query url.Values) (selection, error) {
	var s selection
	if value := query.Get("toolsets"); value != "" {
		s.toolsets = strings.Split(value, ",")
	}
	var toolsets []string
	for _, g := range operation.Groups() {
		toolsets = append(toolsets, g.Toolset)
	}
	for _, name := range s.toolsets {
		if !slices.Contains(toolsets, name) {
			return s, apierr.Invalid(apierr.NotAllowedValue, "toolsets", "The URL selects an unknown toolset. The toolsets are "+
				strings.Join(toolsets, ", ")+". Separate several with commas.")
		}
	}
	switch query.Get("read_only") {
	case "", "0", "false":
	case "1", "true":
		s.readOnly = true
	default:
		return s, apierr.Invalid(apierr.NotAllowedValue, "read_only", "read_only in the URL must be 1 or 0.")
	}
	return s, nil
}

// includes reports whether a tool is selected. The tools of ToolsetAccount are always selected, except tools that write
// if the selection is read-only.
func (s selection) includes(op *operation.Operation) bool {
	if s.readOnly && !op.Reads() {
		return false
	}
	group, ok := operation.GroupOf(op.Path)
	return !ok || len(s.toolsets) == 0 || group.Toolset == operation.ToolsetAccount || slices.Contains(s.toolsets, group.Toolset)
}

// listTools returns the selected tools that the key's level and the role of the key's owner allow. It includes paused
// tools, because a pause may end at any time and clients rarely reload the list.
func (x *exchange) listTools(
	ctx context.Context, reg *operation.Registry, method string, req sdk.Request, next sdk.MethodHandler,
) (sdk.Result, error) {
	result, err := next(ctx, method, req)
	list, ok := result.(*sdk.ListToolsResult)
	if err != nil || !ok {
		return result, err
	}
	out := *list
	out.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(t *sdk.Tool) bool {
		op := reg.Tool(t.Name)
		return !x.selection.includes(op) || !slices.Contains(x.capabilities, op.Needs)
	})
	return &out, nil
}
