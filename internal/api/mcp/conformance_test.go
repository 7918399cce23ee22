package mcp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/api/mcp"
	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/testkit/mcpsuite"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The server passes every applicable scenario of the conformance suite, with the suite's tools, prompts and
// resources. test/tools runs the suite against the program.
func TestConformance(t *testing.T) {
	t.Parallel()
	folder := must.Get(filepath.Abs("../../../test/tools"))(t)
	mcpsuite.Run(t, folder, newSuiteServer(t), nil)
}

// newSuiteServer returns the URL of a server with the suite's fixtures. The suite sends no key, so it is added.
func newSuiteServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	url := "http://" + server.Listener.Addr().String()
	pipe := pipeline.New(pipeline.Ports{
		Keys: keys{}, Idempotency: &replays{byKey: map[string]pipeline.Outcome{}}, Rates: &rates{}, FreeCalls: freeCalls{},
		Credits: credits{},
	}, time.Now)
	handler := mcp.NewWithFixtures(fixtureTools(), pipe, mcp.Options{
		PublicURL: url, Version: "1.2.3", Log: slog.New(slog.DiscardHandler),
		Observe: func(string, bool, time.Duration) {},
	}, addFixtures, serveFixtures)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer full")
		if r.Header.Get("Origin") == strings.Replace(url, "127.0.0.1", "localhost", 1) {
			r.Header.Set("Origin", url)
		}
		handler.ServeHTTP(w, r)
	})
	server.Start()
	t.Cleanup(server.Close)
	return url + "/mcp"
}

// schemas holds tools that only the SDK can serve, because operations cannot have such schemas. The suite's
// other tools are operations.
var schemas = map[string]string{
	"json_schema_2020_12_tool": `{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
		"$defs": {"address": {"$anchor": "place", "type": "object", "properties": {"street": {"type": "string"}}}},
		"properties": {"address": {"$ref": "#/$defs/address"}, "by": {"enum": ["phone", "mail"]}, "phone": {}, "mail": {}},
		"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["mail"]}]}],
		"if": {"properties": {"by": {"const": "phone"}}}, "then": {"required": ["phone"]}, "else": {"required": ["mail"]}}`,
	"test_x_mcp_header": `{"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}`,
}

var (
	image    = &sdk.ImageContent{Data: []byte("\x89PNG\r\n\x1a\n"), MIMEType: "image/png"}
	embedded = &sdk.EmbeddedResource{
		Resource: &sdk.ResourceContents{URI: "test://embedded-resource", MIMEType: "text/plain", Text: "An embedded text."},
	}
	someText = &sdk.TextContent{Text: "A text."}
)

// contents replaces the contents of results, because operations return only text and data.
var contents = map[string][]sdk.Content{
	"test_image_content":          {image},
	"test_audio_content":          {&sdk.AudioContent{Data: []byte("RIFF\x00\x00\x00\x00WAVE"), MIMEType: "audio/wav"}},
	"test_embedded_resource":      {embedded},
	"test_multiple_content_types": {someText, image, embedded},
}

func fixtureTools() *operation.Registry {
	type answer = operation.Response[struct{}]
	define := func(tool string, handle func(operation.Call) (answer, error)) operation.Operation {
		return operation.Define(operation.Spec{
			Tool: tool, Method: http.MethodGet, Path: "/fixtures/" + tool, Summary: "Fixture of the suite",
			Description: "What it does.", Needs: access.Read, Key: operation.KeyRejected, Success: http.StatusOK,
			MayWait: strings.Contains(tool, "progress") || strings.Contains(tool, "streaming"),
		}, func(_ context.Context, call operation.Call, _ struct{}) (answer, error) { return handle(call) })
	}
	succeed := func(operation.Call) (answer, error) { return answer{Summary: "it succeeded."}, nil }
	report := func(call operation.Call) (answer, error) {
		for _, done := range []float64{1, 2, 3} {
			if call.OnProgress != nil {
				call.OnProgress(operation.Progress{Done: done, Total: 3, Message: "A step."})
			}
		}
		return succeed(call)
	}
	ops := []operation.Operation{
		define("test_tool_with_progress", report), define("test_streaming_elicitation", report),
		define("test_error_handling", func(operation.Call) (answer, error) {
			return answer{}, apierr.New(apierr.NotFound, "This tool fails.")
		}),
	}
	for _, tool := range []string{"test_simple_text", "test_logging_tool", "test_missing_capability"} {
		ops = append(ops, define(tool, succeed))
	}
	for tool := range contents {
		ops = append(ops, define(tool, succeed))
	}
	for tool := range schemas {
		ops = append(ops, define(tool, succeed))
	}
	return operation.NewRegistry(ops)
}

var prompts = map[string]func(arguments map[string]string) []sdk.Content{
	"test_simple_prompt":     func(map[string]string) []sdk.Content { return []sdk.Content{someText} },
	"test_prompt_with_image": func(map[string]string) []sdk.Content { return []sdk.Content{image, someText} },
	"test_prompt_with_arguments": func(arguments map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: arguments["arg1"] + " and " + arguments["arg2"]}}
	},
	"test_prompt_with_embedded_resource": func(arguments map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.EmbeddedResource{
			Resource: &sdk.ResourceContents{URI: arguments["resourceUri"], MIMEType: "text/plain", Text: "An embedded text."},
		}, someText}
	},
}

var resources = map[string]*sdk.ResourceContents{
	"test://static-text":        {MIMEType: "text/plain", Text: "A text."},
	"test://static-binary":      {MIMEType: "image/png", Blob: image.Data},
	"test://template/{id}/data": {MIMEType: "application/json", Text: `{"id": "123"}`},
}

func addFixtures(server *sdk.Server) {
	for tool, schema := range schemas {
		server.AddTool(&sdk.Tool{Name: tool, Description: "What it does.", InputSchema: json.RawMessage(schema)},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{someText}}, nil
			})
	}
	for name, prompt := range prompts {
		server.AddPrompt(&sdk.Prompt{Name: name, Description: "What it does."},
			func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				result := &sdk.GetPromptResult{}
				for _, content := range prompt(req.Params.Arguments) {
					result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: content})
				}
				return result, nil
			})
	}
	for uri, contents := range resources {
		read := func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			out := *contents
			out.URI = req.Params.URI
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&out}}, nil
		}
		if strings.Contains(uri, "{") {
			server.AddResourceTemplate(&sdk.ResourceTemplate{Name: uri, URITemplate: uri}, read)
		} else {
			server.AddResource(&sdk.Resource{Name: uri, URI: uri}, read)
		}
	}
}

// serveFixtures serves fixtures without the checks of the product's names and with contents that operations do not
// have.
func serveFixtures(checked, unchecked sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch r := req.(type) {
		case *sdk.GetPromptRequest:
			if prompts[r.Params.Name] != nil {
				return unchecked(ctx, method, req)
			}
		case *sdk.ReadResourceRequest:
			_, known := resources[r.Params.URI]
			if known || strings.HasPrefix(r.Params.URI, "test://template/") {
				return unchecked(ctx, method, req)
			}
		case *sdk.CompleteRequest:
			if r.Params.Ref != nil && prompts[r.Params.Ref.Name] != nil {
				return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}, nil
			}
		case *sdk.CallToolRequest:
			//nolint:staticcheck // sampling is deprecated, but in the suite
			if r.Params.Name == "test_missing_capability" && r.ClientCapabilities().Sampling == nil {
				return nil, mcp.KeepError(ctx, errNoSampling)
			}
			result, err := checked(ctx, method, req)
			if called, ok := result.(*sdk.CallToolResult); ok && contents[r.Params.Name] != nil {
				called.Content = contents[r.Params.Name]
			}
			return result, err
		}
		return checked(ctx, method, req)
	}
}

var errNoSampling = &jsonrpc.Error{
	Code: sdk.CodeMissingRequiredClientCapabilities, Message: "The client does not declare sampling.",
	Data: json.RawMessage(`{"requiredCapabilities": {"sampling": {}}}`),
}
