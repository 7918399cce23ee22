package main

import (
	"context"
	"os"
	"strconv"

	"github.com/mattn/go-isatty"

	"pressroom/internal/calling"
)

type callCmd struct {
	Args []string `arg:"" optional:"" help:"An operation's name and its arguments; without any, all operations are listed."`
}

// statusError ends the program with a status of its own; what there is to say is said.
type statusError int

func (s statusError) Error() string { return "exit status " + strconv.Itoa(int(s)) }

// Run calls the operation.
func (c callCmd) Run(ctx context.Context) error {
	status := calling.Run(ctx, calling.Terminal{
		Env: os.Getenv, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Pretty: isatty.IsTerminal(os.Stdout.Fd()),
	}, c.Args)
	if status != calling.StatusDone {
		return statusError(status)
	}
	return nil
}
