// Package apicli implements `pressroom call`, which has a command for each API operation. It generates the commands
// from the same table of operations as the Go client.
package apicli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"pressroom.example/pressroom/client"
	"pressroom.example/pressroom/internal/apicli/profile"
)

const (
	defaultURL     = "http://127.0.0.1:8080"
	defaultTimeout = 10 * time.Minute

	keyVariable     = "PRESSROOM_KEY"
	fileVariable    = "PRESSROOM_KEY_FILE"
	urlVariable     = "PRESSROOM_URL"
	profileVariable = "PRESSROOM_PROFILE"
)

// Terminal is the environment of a command.
type Terminal struct {
	Env      func(string) string
	In       io.Reader
	Out      io.Writer // receives responses
	Err      io.Writer // receives error messages for people
	Pretty   bool      // indents JSON
	Color    bool      // colors the output to Out
	ErrColor bool      // colors the output to Err
	Profiles profile.Store
}

// Run runs one command, such as list_posts --limit 3, and returns its exit status: one of the Status constants.
func Run(ctx context.Context, t Terminal, args []string) int {
	err := t.run(ctx, args)
	if err != nil {
		t.printError(err)
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
		printOverview(t.Out)
		return nil
	}
	if r, ok := findResource(args[0]); ok && (common.help && len(args) == 1 || len(args) == 2 && isHelp(args[1])) {
		printResource(t.Out, r)
		return nil
	}
	operation, args, err := findOperation(args)
	if err != nil {
		return err
	}
	if common.help {
		args = []string{"--help"}
	}
	if operation.Name == uploadOperation.Name {
		return t.upload(ctx, common, args)
	}
	return t.runOperation(ctx, common, operation, args)
}

func (t Terminal) runOperation(ctx context.Context, s settings, op client.Operation, args []string) error {
	callArgs := arguments{operation: op, values: map[string]any{}}
	flags := s.flags(op.Name, &callArgs)
	if err := flags.parse(args); err != nil {
		return err
	}
	if s.help {
		printHelp(t.Out, op)
		return nil
	}
	if err := callArgs.setPositional(flags.Args()); err != nil {
		return err
	}
	if err := callArgs.addJSON(s.json, t.In); err != nil {
		return err
	}
	switch {
	case s.allPages && !op.Paged:
		return usagef("%s is not paginated: omit --all", op.Name)
	case s.wait && !op.StartsJob && op.Name != getJob:
		return usagef("%s does not start a job: omit --wait", op.Name)
	case s.key != "" && !op.TakesKey:
		return usagef("%s is a read: omit --idempotency-key", op.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	c, err := t.client(s)
	if err != nil {
		return err
	}
	return t.call(ctx, c, s, callArgs)
}

func (t Terminal) call(ctx context.Context, c *client.Client, s settings, callArgs arguments) error {
	if s.wait {
		return t.wait(ctx, c, s, callArgs)
	}
	options := callArgs.callOptions(s.key)
	if s.allPages {
		for page, err := range c.CallPages(ctx, callArgs.operation.Name, callArgs.values, options...) {
			if err != nil {
				return err
			}
			if s.output.format == "yaml" {
				fmt.Fprintln(t.Out, "---")
			}
			if err := t.printAs(page.Raw, s.output); err != nil {
				return err
			}
		}
		return nil
	}
	a, err := c.Call(ctx, callArgs.operation.Name, callArgs.values, options...)
	if err != nil {
		return err
	}
	return t.printResponse(callArgs.operation.Name, a.Raw, a.IdempotencyKey, s.output)
}

// printResponse prints the response to a call, in the form that o selects. If printing fails after a write, it prints
// the whole response and the idempotency key to Err. It never prints the response of create_uploads to Err, because
// that response contains secrets.
func (t Terminal) printResponse(operation string, raw json.RawMessage, key string, o output) error {
	err := t.printAs(raw, o)
	if err == nil || key == "" {
		return err
	}
	if operation != "create_uploads" {
		fmt.Fprintf(t.Err, "The call succeeded. The full response is:\n%s\n", bytes.TrimSpace(raw))
	}
	fmt.Fprintf(t.Err, "To get the response again, repeat the command with --idempotency-key %s.\n", key)
	return err
}

// print writes JSON on one line, or indented if Pretty is set.
func (t Terminal) print(value any) error {
	enc := json.NewEncoder(t.Out)
	enc.SetEscapeHTML(false)
	if t.Pretty {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("printing the response: %w", err)
	}
	return nil
}

// client returns a client for the connection that the settings and the environment select. The API key is never a
// command-line argument, because other processes can read command lines.
func (t Terminal) client(s settings) (*client.Client, error) {
	switch {
	case s.timeout <= 0:
		return nil, usagef("--timeout must be positive, such as 10m")
	case s.attempts < 1:
		return nil, usagef("--attempts must be at least 1")
	}
	if err := s.output.check(); err != nil {
		return nil, err
	}
	c, err := t.connection(s)
	if err != nil {
		return nil, err
	}
	return c.client(s)
}

func (t Terminal) readKeyFile(file string) (string, error) {
	if file == "" {
		if key := t.Env(keyVariable); key != "" {
			return key, nil
		}
		file = t.Env(fileVariable)
	}
	if file == "" {
		return "", usagef("no API key: sign in with pressroom login, set %s, or set --key-file or %s to a file that contains it",
			keyVariable, fileVariable)
	}
	raw, err := os.ReadFile(file) //nolint:gosec // the caller chooses the file
	if err != nil {
		return "", usagef("cannot read the key file: %v", err)
	}
	return string(raw), nil
}
