package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// input is the input of an operation in REST or MCP: the schema of each argument, and the names of the required
// arguments.
type input struct {
	arguments map[string]any
	required  map[string]bool
}

// toolInput returns the input of an MCP tool.
func toolInput(tool map[string]any) input {
	schema, _ := tool["inputSchema"].(map[string]any)
	out := input{arguments: map[string]any{}, required: map[string]bool{}}
	out.add(schema)
	return out
}

// restInput returns the parameters and body members of an operation in the OpenAPI document.
func restInput(described map[string]any) input {
	out := input{arguments: map[string]any{}, required: map[string]bool{}}
	parameters, _ := described["parameters"].([]any)
	for _, p := range parameters {
		parameter, _ := p.(map[string]any)
		schema, _ := parameter["schema"].(map[string]any)
		name, _ := parameter["name"].(string)
		if name == "Idempotency-Key" {
			name = "idempotency_key"
		}
		if text := parameter["description"]; text != nil {
			schema["description"] = text
		}
		out.arguments[name] = schema
		if parameter["required"] == true {
			out.required[name] = true
		}
	}
	if body, _ := described["requestBody"].(map[string]any); body != nil {
		content, _ := body["content"].(map[string]any)
		media, _ := content["application/json"].(map[string]any)
		schema, _ := media["schema"].(map[string]any)
		out.add(schema)
	}
	return out
}

// inline returns a part of the OpenAPI document with the components that its schemas refer to. It omits the formats
// of integers, which tools lack, and the titles of enumerations, which are component names.
func inline(part any, schemas map[string]any) any {
	switch v := part.(type) {
	case []any:
		for i := range v {
			v[i] = inline(v[i], schemas)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			named, _ := schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(map[string]any)
			merged := map[string]any{}
			maps.Copy(merged, named)
			maps.Copy(merged, v)
			delete(merged, "$ref")
			delete(merged, "x-enum-varnames") // for generators of clients
			v = merged
		}
		if v["format"] == "int64" {
			delete(v, "format")
		}
		if _, ok := v["title"].(string); ok {
			delete(v, "title")
		}
		for name := range v {
			v[name] = inline(v[name], schemas)
		}
		return v
	}
	return part
}

func (x input) add(schema map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	maps.Copy(x.arguments, properties)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		x.required[fmt.Sprint(name)] = true
	}
}

// splitTypes converts lists of types to alternatives, as in tools' schemas.
func splitTypes(arguments map[string]any) {
	for _, argument := range arguments {
		schema, _ := argument.(map[string]any)
		types, ok := schema["type"].([]any)
		if !ok {
			continue
		}
		var alternatives []any
		for _, name := range types {
			alternatives = append(alternatives, map[string]any{"type": name})
		}
		delete(schema, "type")
		schema["anyOf"] = alternatives
	}
}

// Every argument has the same schema in MCP and REST: type, bounds, format, default and description. Only the
// Idempotency-Key has separate descriptions, because it is a header in REST.
func TestToolArguments(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		described := map[string]map[string]any{}
		document := w.raw(http.MethodGet, w.base+"/openapi.json", nil, nil)
		schemas, _ := document.at("components.schemas").(map[string]any)
		paths, _ := inline(document.at("paths"), schemas).(map[string]any)
		for _, methods := range paths {
			all, _ := methods.(map[string]any)
			for _, op := range all {
				o, _ := op.(map[string]any)
				described[fmt.Sprint(o["x-tool"])] = o
			}
		}
		tools, _ := w.message(full(w), "tools/list", "{}").at("result.tools").([]any)
		if len(tools) == 0 || len(tools) != len(described) {
			t.Fatalf("%d tools, %d operations", len(tools), len(described))
		}
		for _, one := range tools {
			tool, _ := one.(map[string]any)
			inline(tool, nil)
			byTool, byREST := toolInput(tool), restInput(described[fmt.Sprint(tool["name"])])
			for _, side := range []input{byTool, byREST} {
				if key, _ := side.arguments["idempotency_key"].(map[string]any); key != nil {
					delete(key, "description")
				}
			}
			splitTypes(byREST.arguments)
			if diff := cmp.Diff(byREST.arguments, byTool.arguments); diff != "" {
				t.Errorf("%s: arguments differ (-REST +tool):\n%s", tool["name"], diff)
			}
			if diff := cmp.Diff(byREST.required, byTool.required); diff != "" {
				t.Errorf("%s: required arguments differ (-REST +tool):\n%s", tool["name"], diff)
			}
		}
	})
}

// A tool rejects negative IDs, which no REST path can contain, before any lookup.
func TestIDsBelowZero(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		var checked []string
		for _, op := range w.Registry().All() {
			for _, name := range op.InPath {
				if op.Input.Properties[name].Type != "integer" {
					continue
				}
				checked = append(checked, op.Tool)
				args := map[string]any{}
				maps.Copy(args, op.Example.Arguments)
				args[name] = -1
				w.rest(full(w), op.Tool, args, "").mustReject(t, http.StatusNotFound, "endpoint_not_found", "")
				w.tool(full(w), op.Tool, args, "").mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "out_of_range")
				args[name] = 0
				w.rest(full(w), op.Tool, args, "").mustReject(t, http.StatusNotFound, "not_found", "")
				w.tool(full(w), op.Tool, args, "").mustReject(t, http.StatusNotFound, "not_found", "")
			}
		}
		if slices.Sort(checked); len(checked) < 4 {
			t.Errorf("only %v have a numeric ID in their path", checked)
		}
	})
}
