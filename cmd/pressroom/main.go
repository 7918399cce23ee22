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
	Quickstart quickstartCmd `cmd:"" help:"Run the service with a demo team and sandbox networks. No setup is needed."`
	Serve      serveCmd      `cmd:"" help:"Run the service."`
	Admin      adminCmd      `cmd:"" help:"Administer people, teams, keys, accounts, credits and backups."`
	Call       callCmd       `cmd:"" passthrough:"" help:"Call an API operation: pressroom call list_posts, or: pressroom posts list"`
	Sandbox    sandboxCmd    `cmd:"" help:"Run only the sandbox networks, which simulate social networks."`
	Login      loginCmd      `cmd:"" help:"Sign in to a service for pressroom call."`
	Logout     logoutCmd     `cmd:"" help:"Sign out and remove the profile."`
	Profiles   profilesCmd   `cmd:"" help:"List the profiles of pressroom login."`
	MCP        mcpCmd        `cmd:"" name:"mcp" help:"Connect an assistant to the tools (MCP) over standard input and output."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in bash, zsh or fish."`
	Man        manCmd        `cmd:"" help:"Print a manual page, or write all manual pages to a folder."`
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
		kong.Description("Draft, schedule and publish posts on social networks, through an API and with assistants.\n\n"+
			"To try it out:\n\n  pressroom quickstart\n\nTo list the operations of the API, and call one:\n\n"+
			"  pressroom call\n  pressroom posts list"),
		kong.ConfigureHelp(kong.HelpOptions{NoExpandSubcommands: true}), kong.Exit(exit), kong.BindTo(ctx, (*context.Context)(nil)))
	k, err := parser.Parse(expand(os.Args[1:]))
	if err != nil {
		parser.Stdout = os.Stderr // kong prints the usage before an error
	}
	parser.FatalIfErrorf(explainUnknownCommand(err))
	log, err := newLog(os.Stderr, p.LogLevel, p.LogFormat)
	k.FatalIfErrorf(err)
	err = k.Run(log)
	stop()
	if status, ok := errors.AsType[statusError](err); ok {
		os.Exit(int(status))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, apicli.ErrorLine(hasColor(os.Stderr), err.Error()))
		os.Exit(1)
	}
}

// exit ends the program. For an invalid command line, it replaces kong's exit status with the one of pressroom call.
func exit(status int) {
	const kongUsageStatus = 80
	if status == kongUsageStatus {
		status = apicli.StatusUsage
	}
	os.Exit(status)
}

// expand replaces the command help with the flag --help. It also inserts the command call before the name of a
// resource, so that `pressroom posts list` runs `pressroom call posts list`.
func expand(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(expand(args[1:]), "--help")
	case slices.Contains(resourceNames(), args[0]):
		return append([]string{"call"}, args...)
	}
	return args
}

func resourceNames() []string {
	var names []string
	for _, r := range apicli.Resources() {
		names = append(names, r.Name)
	}
	return names
}

// explainUnknownCommand returns the error for an unknown command. It suggests the closest command and lists all
// commands.
func explainUnknownCommand(err error) error {
	parse, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return err
	}
	name, ok := strings.CutPrefix(err.Error(), "unexpected argument ")
	if !ok {
		return err
	}
	name, _, _ = strings.Cut(name, ", did you mean")
	node := parse.Context.Selected()
	if node == nil {
		node = parse.Context.Model.Node
	}
	names := childNames(node)
	if names == nil {
		return err
	}
	list := strings.Join(names, ", ")
	if node == parse.Context.Model.Node {
		names = append(names, resourceNames()...)
	}
	return unknownCommandError{parse, fmt.Sprintf("unknown command %s%s The commands are %s", name, apicli.Suggestion(name, names), list)}
}

// unknownCommandError is a ParseError with a more helpful message.
type unknownCommandError struct {
	*kong.ParseError

	text string
}

func (u unknownCommandError) Error() string { return u.text }

// Unwrap returns the ParseError, which makes package kong print the usage.
func (u unknownCommandError) Unwrap() error { return u.ParseError }
