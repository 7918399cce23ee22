// Command pressroom is the whole service in one program.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones also where the system has none

	"github.com/alecthomas/kong"
)

// version is set by the build.
var version = "dev"

// program is the command line.
type program struct {
	Quickstart quickstartCmd `cmd:"" help:"Try everything at once: a demo team with sandbox networks in one directory. Needs no set-up."`
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Admin      adminCmd      `cmd:"" help:"The operator's commands: people, teams, keys, accounts."`
	Call       callCmd       `cmd:"" passthrough:"" help:"Call an operation of the API, as a client with a key: pressroom call list_posts --limit 3."`
	Sandbox    sandboxCmd    `cmd:"" help:"Run the sandbox networks alone."`
	Health     healthCmd     `cmd:"" help:"Ask a node on this machine whether it is ready. Ends with status 1 where not."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	LogLevel  string `help:"How much the log tells: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"PRESSROOM_LOG_LEVEL"`
	LogFormat string `help:"text for people, json for programs; auto is text on a terminal and json elsewhere." enum:"auto,text,json" default:"auto" env:"PRESSROOM_LOG_FORMAT"`
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	_, err := fmt.Println("pressroom", version)
	return err
}

func main() {
	tuneCollector()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var p program
	k := kong.Parse(&p, kong.Name("pressroom"), kong.UsageOnError(),
		kong.Description("pressroom drafts, schedules and publishes posts through an API and through assistants' tools.\n\nStart with: pressroom quickstart"),
		kong.BindTo(ctx, (*context.Context)(nil)))
	log, err := newLog(os.Stderr, p.LogLevel, p.LogFormat)
	k.FatalIfErrorf(err)
	err = k.Run(log)
	stop()
	if status, ok := errors.AsType[statusError](err); ok {
		os.Exit(int(status))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pressroom: "+err.Error())
		os.Exit(1)
	}
}
