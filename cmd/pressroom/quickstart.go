package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"text/template"

	"pressroom.example/pressroom/internal/server"
)

type quickstartCmd struct {
	Data string `help:"Data directory. Existing data is kept." default:"pressroom-data" type:"path"`
	Addr string `help:"Address to listen on. Use a local address, because quickstart serves plain HTTP." default:"127.0.0.1:8080"`
	JSON bool   `help:"Print URLs, API keys and the owner's sign-in credentials as one line of JSON."`
}

// Run starts the service with the demo team and the sandbox networks.
func (c quickstartCmd) Run(ctx context.Context, log *slog.Logger) error {
	listener, err := listen(c.Addr)
	if err != nil {
		return err
	}
	if addr, ok := listener.Addr().(*net.TCPAddr); !ok || !addr.IP.IsLoopback() {
		log.Warn("INSECURE: quickstart is for trials on this machine, but this address exposes an operator account "+
			"and full API keys over plain HTTP. Use --addr 127.0.0.1:8080, or run pressroom serve", "addr", listener.Addr().String())
	}
	q, err := server.OpenQuickstart(ctx, c.Data, server.Config{
		Version: version, PublicURL: "http://" + displayAddress(c.Addr, listener.Addr()), Workers: defaultWorkers,
		Log: log,
	})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	return errors.Join(c.serve(ctx, q, listener), q.Close())
}

// serve runs the service and prints the greeting once the demo data is complete.
func (c quickstartCmd) serve(ctx context.Context, q *server.Quickstart, listener net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- q.Run(ctx, listener)
	}()
	err := q.AddSamples(ctx)
	if err == nil && ctx.Err() == nil {
		err = c.greet(os.Stdout, q)
	}
	if err != nil {
		stop()
	}
	return errors.Join(err, <-ended)
}

// displayAddress returns the address to print. It keeps the host name localhost, because passkeys are bound to host
// names.
func displayAddress(requestedAddr string, boundAddr net.Addr) string {
	_, port, err := net.SplitHostPort(boundAddr.String())
	if host, _, reqErr := net.SplitHostPort(requestedAddr); err == nil && reqErr == nil && host == "localhost" {
		return net.JoinHostPort(host, port)
	}
	return boundAddr.String()
}

func listen(addr string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listening on %s (to use another address, set --addr): %w", addr, err)
	}
	return listener, nil
}

// greet prints addresses, keys and commands to try.
func (c quickstartCmd) greet(w io.Writer, q *server.Quickstart) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(q.Greeting)
	}
	return greeting.Execute(w, q)
}

var greeting = template.Must(template.New("greeting").Parse(`pressroom is running.

  API       {{.Greeting.BaseURL}}
  Tools     {{.Greeting.MCPURL}}
  App       {{.Greeting.AppURL}}   ({{with .Greeting.Owner}}{{.Email}}{{with .Password}} / {{.}}{{end}}{{end}},
	{{- " owner of the team and operator)"}}
{{- with .Greeting.Owner.Recover}}
            The password was changed. To set a new one, open the link printed by:
            {{.}}
{{- end}}
  Sandbox   {{.Greeting.SandboxURL}}   posts on the sandbox networks

  Keys      read only   {{.Greeting.Keys.read_only}}
            drafts      {{.Greeting.Keys.drafts}}
            full        {{.Greeting.Keys.full}}

Try:

  export KEY={{.Greeting.Keys.full}}
  curl -s -H "Authorization: Bearer $KEY" {{.Greeting.BaseURL}}/me
  curl -s -H "Authorization: Bearer $KEY" {{.Greeting.BaseURL}}/social-accounts
  curl -s -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" -H "Idempotency-Key: my-first-post"
	{{- " -d"}} '{"caption":"Hello from #pressroom","account_ids":[1]}' {{.Greeting.BaseURL}}/posts
  curl -s -H "Authorization: Bearer $KEY" "{{.Greeting.BaseURL}}/posts?status=draft&limit=1"

{{with .Sample}}Publish a draft and see it on the sandbox network:

  curl -s -X POST -H "Authorization: Bearer $KEY" {{$.Greeting.BaseURL}}/posts/{{.}}/publish
  curl -s -H "Authorization: Bearer $KEY" {{$.Greeting.BaseURL}}/posts/{{.}}
  curl -s {{$.Greeting.SandboxURL}}/posts

{{end}}Or use the command line, which has a command for each API operation:

  export PRESSROOM_KEY=$KEY PRESSROOM_URL={{.Greeting.AppURL}}
  pressroom posts list -o table
  pressroom posts create --caption "The network will reject this [sandbox:reject]" --account-ids 1 -o table

Press Ctrl-C to stop. All data is kept in the data directory.
`))
