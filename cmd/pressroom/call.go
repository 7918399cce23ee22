package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/alecthomas/kong"

	"pressroom.example/pressroom/internal/apicli"
)

type callCmd struct {
	Args []rawArg `arg:"" optional:"" help:"Operation and its arguments. Lists all operations if omitted."`
}

// rawArg is an unmodified argument. Package kong would convert a string to JSON and back, which changes bytes that are
// not valid UTF-8.
type rawArg string

// Decode reads the next argument.
func (a *rawArg) Decode(ctx *kong.DecodeContext) error {
	token, err := ctx.Scan.PopValue("argument")
	if err != nil {
		return fmt.Errorf("reading an argument: %w", err)
	}
	text, ok := token.Value.(string)
	if !ok {
		return errors.New("an argument is not a string")
	}
	*a = rawArg(text)
	return nil
}

// statusError is an error that ends the program with this exit status. Its message has already been printed.
type statusError int

func (s statusError) Error() string { return "exit status " + strconv.Itoa(int(s)) }

// Run calls the operation.
func (c callCmd) Run(ctx context.Context) error {
	args := make([]string, len(c.Args))
	for i, w := range c.Args {
		args[i] = string(w)
	}
	status := apicli.Run(ctx, terminal(), args)
	if status != apicli.StatusDone {
		return statusError(status)
	}
	return nil
}
