// Command pressroom runs, administers and calls the service.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // for systems without a time zone database

	"github.com/alecthomas/kong"

	"pressroom.example/pressroom/internal/apicli"
)

// program is the command line.
type program struct {
	Quickstart quickstartCmd `cmd:"" help:"Run a demo team with sandbox networks. Needs no setup."`
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Admin      adminCmd      `cmd:"" help:"Administer people, teams, keys, accounts, credits and backups."`
	Call       callCmd       `cmd:"" passthrough:"" help:"Call an API operation: pressroom call list_posts, or: pressroom posts list"`
	Sandbox    sandboxCmd    `cmd:"" help:"Run only the sandbox networks."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Connect an assistant to the tools by standard input and output."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in bash, zsh or fish."`
	Complete   completeCmd   `cmd:"" hidden:"" passthrough:""`
	Health     healthCmd     `cmd:"" help:"Check whether a node is ready. Exits with status 1 if not ready."`
	Version    versionCmd    `cmd:"" help:"Print the version."`

	VersionFlag versionFlag `name:"version" help:"Print the version."`

	LogLevel  string `help:"Log level: debug, info, warn or error." enum:"debug,info,warn,error" default:"info" env:"PRESSROOM_LOG_LEVEL"`
	LogFormat string `help:"Log format: text, json, or auto (text on a terminal, else json)." enum:"auto,text,json" default:"auto" env:"PRESSROOM_LOG_FORMAT"`
}

func main() {
	tuneCollector()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var p program
	parser := kong.Must(&p, kong.Name("pressroom"), kong.ShortUsageOnError(),
		kong.Description("Draft, schedule and publish posts on social networks, by API and by assistants.\n\nTo try "+
			"it out, run: pressroom quickstart"),
		kong.BindTo(ctx, (*context.Context)(nil)))
	k, err := parser.Parse(withCall(os.Args[1:]))
	parser.FatalIfErrorf(nameCommands(err))
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

// withCall inserts the command call before the name of a resource: pressroom posts list.
func withCall(args []string) []string {
	if len(args) > 0 && slices.ContainsFunc(apicli.Resources(), func(r apicli.Resource) bool { return r.Name == args[0] }) {
		return append([]string{"call"}, args...)
	}
	return args
}

// nameCommands adds the list of valid commands to the error for an unknown command.
func nameCommands(err error) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok || !strings.HasPrefix(err.Error(), "unexpected argument") {
		return err
	}
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	var names []string
	for _, c := range node.Children {
		names = append(names, c.Name)
	}
	if names == nil {
		return err
	}
	return fmt.Errorf("%w; the commands are %s", err, strings.Join(names, ", "))
}
