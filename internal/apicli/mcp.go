package apicli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"pressroom.example/pressroom/client"
)

// maxMessage is the maximum size of a message in bytes.
const maxMessage = 4 << 20

// MCPOptions selects the service and the tools that are offered.
type MCPOptions struct {
	URL, KeyFile, Profile, Toolsets string
	ReadOnly, PlainHTTP             bool
}

// ServeMCP connects an MCP client on standard input and output to the service's tools. Each line that it reads from
// t.In or writes to t.Out is a message (MCP specification, stdio transport). ServeMCP returns at the end of t.In.
func ServeMCP(ctx context.Context, t Terminal, o MCPOptions) error {
	s := settings{url: o.URL, keyFile: o.KeyFile, profile: o.Profile, plainHTTP: o.PlainHTTP, attempts: 1, timeout: defaultTimeout,
		output: output{format: formats[0]}}
	c, err := t.connection(s)
	if err != nil {
		return err
	}
	if _, err := c.client(s); err != nil { // checks the URL and the key
		return err
	}
	query := url.Values{}
	if o.Toolsets != "" {
		query.Set("toolsets", o.Toolsets)
	}
	if o.ReadOnly {
		query.Set("read_only", "1")
	}
	endpoint := baseURL(c.url) + "/mcp"
	if len(query) > 0 {
		endpoint += "?" + query.Encode()
	}
	b := &bridge{endpoint: endpoint, credential: c.credential, out: t.Out, cancelFuncs: map[string]context.CancelFunc{},
		http: &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
	return b.serve(ctx, t.In)
}

// bridge forwards messages from an assistant to the service, and responses from the service to the assistant.
type bridge struct {
	endpoint   string
	credential func(context.Context) (string, error)
	http       *http.Client
	wg         sync.WaitGroup

	mu          sync.Mutex // guards the fields below
	out         io.Writer
	version     string                        // protocol version, from the response to initialize
	cancelFuncs map[string]context.CancelFunc // cancel functions of requests without a response, by request ID
}

// message contains the members of a JSON-RPC message that the transport needs.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"` //nolint:tagliatelle // named by MCP
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"` //nolint:tagliatelle // named by MCP
		} `json:"_meta"` //nolint:tagliatelle // named by MCP
	} `json:"params"`
}

func (b *bridge) serve(ctx context.Context, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer b.wg.Wait() // wait for the responses to all messages that were read
	scanner := bufio.NewScanner(in)
	scanner.Buffer(make([]byte, 64<<10), maxMessage)
	for scanner.Scan() {
		raw := bytes.Clone(bytes.TrimSpace(scanner.Bytes()))
		var m message
		switch {
		case len(raw) == 0:
		case json.Unmarshal(raw, &m) != nil:
			b.writeError(json.RawMessage("null"), -32700, "The line is not a JSON-RPC message.")
		case m.Method == "notifications/cancelled":
			b.cancel(m.Params.RequestID)
		default:
			b.start(ctx, m, raw)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("reading messages: %w", err)
	}
	return nil
}

// start sends a message in the background.
func (b *bridge) start(ctx context.Context, m message, raw []byte) {
	ctx, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	if m.ID != nil {
		b.cancelFuncs[string(m.ID)] = cancel
	}
	b.mu.Unlock()
	b.wg.Go(func() {
		defer b.cancel(m.ID)
		defer cancel()
		err := b.send(ctx, m, raw)
		if err != nil && m.ID != nil && !errors.Is(ctx.Err(), context.Canceled) {
			b.writeError(m.ID, -32000, err.Error())
		}
	})
}

func (b *bridge) cancel(id json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.cancelFuncs[string(id)]; cancel != nil {
		cancel()
		delete(b.cancelFuncs, string(id))
	}
}

// send sends a message to the service and writes the messages in the response.
func (b *bridge) send(ctx context.Context, m message, raw []byte) error {
	credential, err := b.credential(ctx)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.endpoint, bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("creating a request: %w", err)
	}
	r.Header.Set("Authorization", "Bearer "+credential)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	b.mu.Lock()
	version := b.version
	b.mu.Unlock()
	if m.Params.Meta.Version != "" {
		version = m.Params.Meta.Version
	}
	for name, value := range map[string]string{
		"Mcp-Protocol-Version": version, "Mcp-Method": m.Method, "Mcp-Name": m.Params.Name + m.Params.URI,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := b.http.Do(r)
	if err != nil {
		return fmt.Errorf("the service cannot be reached: %w", err)
	}
	defer response.Body.Close()
	mediaType, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	switch mediaType {
	case "application/json":
		return b.writeResponse(m, response.Body)
	case "text/event-stream":
		return b.writeEvents(response.Body)
	case "application/problem+json":
		return problemError(response.Body)
	}
	if response.StatusCode/100 == 2 {
		return nil // a notification was accepted
	}
	return fmt.Errorf("the response has status %d and is not from pressroom: check the URL", response.StatusCode)
}

func (b *bridge) writeResponse(m message, body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	if m.Method == "initialize" {
		var response struct {
			Result struct {
				Version string `json:"protocolVersion"` //nolint:tagliatelle // named by MCP
			} `json:"result"`
		}
		if json.Unmarshal(raw, &response) == nil {
			b.mu.Lock()
			b.version = response.Result.Version
			b.mu.Unlock()
		}
	}
	return b.write(raw)
}

// writeEvents writes the data of each server-sent event as a message.
func (b *bridge) writeEvents(body io.Reader) error {
	scanner := bufio.NewScanner(body)
	scanner.Buffer(make([]byte, 64<<10), maxMessage)
	var data []byte
	for scanner.Scan() {
		text, ok := bytes.CutPrefix(scanner.Bytes(), []byte("data:"))
		switch {
		case ok:
			data = append(data, bytes.TrimPrefix(text, []byte(" "))...)
		case len(scanner.Bytes()) == 0 && len(data) > 0:
			if err := b.write(data); err != nil {
				return err
			}
			data = nil
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("reading events: %w", err)
	}
	return nil
}

// problemError returns the error that a problem document describes, such as an invalid key.
func problemError(body io.Reader) error {
	var p struct {
		Detail string `json:"detail"`
		Code   string `json:"code"`
	}
	if err := json.NewDecoder(body).Decode(&p); err != nil {
		return fmt.Errorf("reading the error: %w", err)
	}
	if p.Code == client.CodeUnauthorized {
		p.Detail = invalidKey
	}
	return fmt.Errorf("%s (%s)", p.Detail, p.Code)
}

func (b *bridge) writeError(id json.RawMessage, code int, text string) {
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}})
	if err == nil {
		_ = b.write(raw) // a write fails only if the assistant has disconnected
	}
}

// write writes a message as one line.
func (b *bridge) write(raw []byte) error {
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return fmt.Errorf("the response is not JSON: %w", err)
	}
	line.WriteByte('\n')
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, err := b.out.Write(line.Bytes()); err != nil {
		return fmt.Errorf("writing a message: %w", err)
	}
	return nil
}
