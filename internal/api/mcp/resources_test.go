package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/testkit/must"
)

// rpc sends a message of a protocol version with sessions. It returns the result, or the code of the error and of the
// problem in it.
func (e *env) rpc(t *testing.T, level, method, params string) (json.RawMessage, string) {
	t.Helper()
	got := e.send(t, "POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params),
		"Authorization", "Bearer "+level)
	var out struct {
		Result json.RawMessage
		Error  *struct {
			Code int
			Data struct{ Code string }
		}
	}
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != http.StatusOK {
		t.Fatalf("%s: HTTP %d %s (%v)", method, got.status, got.body, err)
	}
	if out.Error != nil {
		return nil, strings.TrimSpace(fmt.Sprint(out.Error.Code, " ", out.Error.Data.Code))
	}
	return out.Result, ""
}

func TestResourceErrors(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for uri, want := range map[string]string{
		"pressroom://notes/n9": "-32002 not_found", "pressroom://notes/N1": "-32002", "pressroom://notes/n1/": "-32002",
		"pressroom://notes":     "-32002",
		"pressroom://notes/%zz": "-32002", "https://pressroom.example/notes/n1": "-32002", "": "-32602",
		"pressroom://pages/wide/n1": "-32002",
		"pressroom://pages/long/n1": "-32000 publish_not_allowed",
	} {
		if _, rejected := e.rpc(t, "read_only", "resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); rejected != want {
			t.Errorf("%q: %s, want %s", uri, rejected, want)
		}
	}
	key := apikey.New(apikey.APIKey)
	for _, params := range []string{`{"uri":"pressroom://notes/` + key + `"}`, `{"uri":"` + key + `"}`} {
		if got := e.send(t, "POST",
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":`+params+`}`); strings.Contains(got.body, key) {
			t.Errorf("repeated: %s", got.body)
		}
	}
}

func TestResourcesMatchTheirTools(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	result, rejected := e.rpc(t, "full", "resources/read", `{"uri":"pressroom://notes/n%31"}`)
	var got struct {
		Contents []struct{ URI, MimeType, Text string }
	}
	if err := json.Unmarshal(result, &got); err != nil || rejected != "" || len(got.Contents) != 2 {
		t.Fatalf("%s %s (%v)", result, rejected, err)
	}
	tool, _ := e.call(t, "full", "get_note", `{"id":"n1"}`)
	if diff := cmp.Diff(anyUUID.ReplaceAllString(tool.Content[1].Text, ""),
		anyUUID.ReplaceAllString(got.Contents[0].Text, "")); diff != "" {
		t.Errorf("the resource differs from the tool (-tool +resource):\n%s", diff)
	}
	if got.Contents[1].Text != tool.Content[2].Text || got.Contents[1].URI == got.Contents[0].URI {
		t.Errorf("third-party text: %+v", got.Contents[1])
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	of := func(ref, argument, value, given string) string {
		return fmt.Sprintf(`{"ref":%s,"argument":{"name":%q,"value":%q},"context":{"arguments":%s}}`, ref, argument, value, given)
	}
	note, page, prompt := `{"type":"ref/resource","uri":"pressroom://notes/{id}"}`,
		`{"type":"ref/resource","uri":"pressroom://pages/{kind}/{id}"}`, `{"type":"ref/prompt","name":"write_post"}`
	for params, want := range map[string]string{
		of(note, "id", "", `{}`):                                      `["n1","n7"]`,
		of(note, "id", "N7", `{}`):                                    `["n7"]`,
		of(note, "id", "first note", `{}`):                            `["n1"]`,
		of(note, "id", "none of them", `{}`):                          `[]`,
		of(page, "kind", "s", `{"id":"n1"}`):                          `["short"]`,
		of(page, "id", "", `{"kind":"short"}`):                        `[]`,
		of(prompt, "topic", "x", `{}`):                                `[]`,
		of(prompt, "no_such", "x", `{}`):                              `-32602`,
		of(note, "no_such", "x", `{}`):                                `-32602`,
		of(`{"type":"ref/prompt","name":"no_such"}`, "x", "", `{}`):   `-32602`,
		of(`{"type":"ref/resource","uri":"file:///"}`, "x", "", `{}`): `-32602`,
	} {
		result, got := e.rpc(t, "full", "completion/complete", params)
		if result != nil {
			var values struct {
				Completion struct{ Values json.RawMessage }
			}
			must.NoError(t, json.Unmarshal(result, &values))
			got = string(values.Completion.Values)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", params, got, want)
		}
	}
}

// Every request counts once against the key's limits; resources/list counts once for each kind of item.
func TestRequestCounting(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	for _, message := range []string{
		`"ping"`, `"tools/list"`, `"prompts/list"`, `"resources/templates/list"`, `"resources/list"`, `"no/such"`,
		`"tools/call","params":{"name":"get_note","arguments":{"id":"n1"}}`,
		`"tools/call","params":{"name":"get_note","arguments":{"id":"n9"}}`,
		`"tools/call","params":{"name":"no_such_tool"}`, `"tools/call","params":{"name":1}`, `"tools/call"`,
		`"tools/call","params":{"name":"watch_note","arguments":{"id":"n1"},"_meta":{"progressToken":1}}`,
		`"prompts/get","params":{"name":"write_post","arguments":{"topic":"x"}}`,
		`"prompts/get","params":{"name":"no_such"}`, `"prompts/get","params":{"name":1}`,
		`"resources/read","params":{"uri":"pressroom://notes/n1"}`, `"resources/read","params":{"uri":"pressroom://notes/n9"}`,
		`"resources/read","params":{"uri":"no such"}`, `"resources/read","params":{"uri":1}`, `"resources/read"`,
		`"completion/complete","params":{"ref":{"type":"ref/resource","uri":"pressroom://notes/{id}"},"argument":{"name":"id","value":""}}`,
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"write_post"},"argument":{"name":"topic","value":""}}`,
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"no_such"},"argument":{"name":"topic","value":""}}`,
		`"completion/complete","params":{}`,
	} {
		before := e.rates.requests.Load()
		got := e.send(t, "POST", `{"jsonrpc":"2.0","id":1,"method":`+message+`}`)
		if n := e.rates.requests.Load() - before; n != 1 {
			t.Errorf("%s was counted %d times: HTTP %d %s", message, n, got.status, got.body)
		}
		if got.header.Get("Ratelimit") == "" && !strings.Contains(got.header.Get("Content-Type"), "event-stream") {
			t.Errorf("%s has no rate limits: %v", message, got.header)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	progress := make(chan string, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			progress <- fmt.Sprint(req.Params.ProgressToken, " ", req.Params.Progress, " ", req.Params.Message)
		},
	})
	session := must.Get(client.Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: e.url, HTTPClient: &http.Client{Transport: withKey("full")}, MaxRetries: -1}, nil))(t)
	defer session.Close()
	params := &sdk.CallToolParams{Name: "watch_note", Arguments: map[string]any{"id": "n1"}}
	params.SetProgressToken("p")
	if got, err := session.CallTool(t.Context(), params); err != nil || got.IsError {
		t.Fatalf("%+v %v", got, err)
	}
	for _, want := range []string{"p 1 One.", "p 2 Two."} {
		if got := <-progress; got != want {
			t.Errorf("progress %q, want %q", got, want)
		}
	}
}

// A read that waits is canceled with its request, also in earlier versions of the protocol.
func TestReadsAreCanceled(t *testing.T) {
	t.Parallel()
	for _, meta := range []string{`{}`, `{"progressToken":1}`} {
		e := newEnv(t)
		ctx, hangUp := context.WithCancel(t.Context())
		r := must.Get(http.NewRequestWithContext(ctx, http.MethodPost, e.url, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"watch_note","arguments":{"id":"gone"},"_meta":`+meta+`}}`)))(t)
		r.Header = http.Header{"Authorization": {"Bearer full"}, "Content-Type": {"application/json"}, "Accept": {"*/*"}}
		gone := make(chan error)
		go func() {
			resp, err := http.DefaultClient.Do(r)
			if err == nil {
				resp.Body.Close()
			}
			gone <- err
		}()
		<-e.started
		hangUp()
		<-gone
		if err := <-e.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the wait ended with %v", meta, err)
		}
	}
}
