// Package apicli is the command line of the API: every operation as a command, by the table that the Go client is
// generated with.
package apicli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"pressroom/client"
)

const (
	defaultURL     = "http://127.0.0.1:8080"
	defaultTimeout = 10 * time.Minute

	keyVariable  = "PRESSROOM_KEY"
	fileVariable = "PRESSROOM_KEY_FILE"
	urlVariable  = "PRESSROOM_URL"
)

// Terminal is what a command reads and writes.
type Terminal struct {
	Env    func(string) string
	In     io.Reader
	Out    io.Writer // answers, as JSON
	Err    io.Writer // what went wrong, for people
	Pretty bool      // whether a person reads Out
}

// Run does one command, such as list_posts --limit 3, and gives its exit status: one of the Status constants.
func Run(ctx context.Context, t Terminal, args []string) int {
	err := t.run(ctx, args)
	if err != nil {
		t.tell(err)
	}
	return status(ctx, err)
}

func (t Terminal) run(ctx context.Context, args []string) error {
	var common settings
	flags := common.flags("call", nil)
	if err := flags.parse(args); err != nil {
		return err
	}
	args = flags.Args()
	if len(args) == 0 {
		overview(t.Out)
		return nil
	}
	if common.help {
		args = append(args[:1:1], "--help")
	}
	if args[0] == "upload" {
		return t.upload(ctx, common, args[1:])
	}
	for _, o := range client.Operations() {
		if o.Name == args[0] {
			return t.operation(ctx, common, o, args[1:])
		}
	}
	return usage("there is no operation %q: `pressroom call` lists them", args[0])
}

func (t Terminal) operation(ctx context.Context, s settings, o client.Operation, args []string) error {
	given := arguments{operation: o, values: map[string]any{}}
	flags := s.flags(o.Name, &given)
	if err := flags.parse(args); err != nil {
		return err
	}
	if s.help {
		describe(t.Out, o)
		return nil
	}
	if err := given.places(flags.Args()); err != nil {
		return err
	}
	if err := given.merge(s.json, t.In); err != nil {
		return err
	}
	switch {
	case s.all && !o.Paged:
		return usage("%s has no pages: leave --all out", o.Name)
	case s.wait && !o.StartsJob && o.Name != followed:
		return usage("%s starts no job: leave --wait out", o.Name)
	case s.key != "" && !o.TakesKey:
		return usage("%s only reads and takes no Idempotency-Key", o.Name)
	}
	c, err := t.client(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return t.call(ctx, c, s, given)
}

func (t Terminal) call(ctx context.Context, c *client.Client, s settings, given arguments) error {
	if s.wait {
		return t.wait(ctx, c, s, given)
	}
	options := given.keyed(s.key)
	if s.all {
		for page, err := range c.CallPages(ctx, given.operation.Name, given.values, options...) {
			if err != nil {
				return err
			}
			if err := t.show(page.Raw, s.field); err != nil {
				return err
			}
		}
		return nil
	}
	a, err := c.Call(ctx, given.operation.Name, given.values, options...)
	if err != nil {
		return err
	}
	return t.give(given.operation.Name, a.Raw, a.IdempotencyKey, s.field)
}

// give shows what a call was answered. Where that fails, what was done and paid is told all the same: with the key of a write. One-time
// secrets, which create_uploads gives, a repeat makes anew.
func (t Terminal) give(operation string, raw json.RawMessage, key, field string) error {
	err := t.show(raw, field)
	if err == nil || key == "" {
		return err
	}
	if operation != "create_uploads" {
		fmt.Fprintf(t.Err, "The service has answered all the same, and its whole answer is:\n%s\n", bytes.TrimSpace(raw))
	}
	fmt.Fprintf(t.Err, "The same command with --idempotency-key %s gets the answer again and does nothing twice.\n", key)
	return err
}

// show prints an answer, or one member of it: a text without quotes.
func (t Terminal) show(raw json.RawMessage, field string) error {
	if field == "" {
		return t.print(raw)
	}
	for name := range strings.SplitSeq(field, ".") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		if n, err := strconv.Atoi(name); err == nil && json.Unmarshal(raw, &list) == nil && n >= 0 && n < len(list) {
			raw = list[n]
			continue
		}
		if json.Unmarshal(raw, &object) != nil || object[name] == nil {
			return fmt.Errorf("the answer has no %s", field)
		}
		raw = object[name]
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return t.print(raw)
	}
	if _, err := fmt.Fprintln(t.Out, text); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// print writes an answer: a line for programs, many for people.
func (t Terminal) print(answer any) error {
	e := json.NewEncoder(t.Out)
	e.SetEscapeHTML(false)
	if t.Pretty {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(answer); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// client is for the service and with the key that the environment names. A key is no argument: every process of a machine may read those.
func (t Terminal) client(s settings) (*client.Client, error) {
	switch {
	case s.timeout <= 0:
		return nil, usage("--timeout has to be more than nothing, such as 10m")
	case s.attempts < 1:
		return nil, usage("--attempts has to be 1 or more")
	}
	key, err := t.key(s.keyFile)
	if err != nil {
		return nil, err
	}
	address := s.url
	if address == "" {
		address = t.Env(urlVariable)
	}
	if address == "" {
		address = defaultURL
	}
	options := []client.Option{client.WithUserAgent("pressroom-call"), client.WithAttempts(s.attempts)}
	if s.plain {
		options = append(options, client.WithPlainHTTP())
	}
	c, err := client.New(address, key, options...)
	if err != nil {
		return nil, usage("%s", strings.ReplaceAll(err.Error(), "WithPlainHTTP", "--plain-http"))
	}
	return c, nil
}

func (t Terminal) key(file string) (string, error) {
	if file == "" {
		if key := t.Env(keyVariable); key != "" {
			return key, nil
		}
		file = t.Env(fileVariable)
	}
	if file == "" {
		return "", usage("no API key: set %s, or name a file that holds it with --key-file or %s", keyVariable, fileVariable)
	}
	raw, err := os.ReadFile(file) //nolint:gosec // the caller says which
	if err != nil {
		return "", usage("the file with the key cannot be read: %v", err)
	}
	return string(raw), nil
}
