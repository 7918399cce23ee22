package apicli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"pressroom/client"
)

// settings are what every command takes.
type settings struct {
	url, keyFile, key, json, field string
	all, wait, plain, help         bool
	attempts                       int
	timeout                        time.Duration
}

// flagSet is what a command takes, before or behind the operation's name.
type flagSet struct{ *flag.FlagSet }

// flags are those of an operation, or those that stand before its name. An operation's own come first: import_media has a --url.
func (s *settings) flags(name string, given *arguments) flagSet {
	f := flagSet{flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	f.BoolVar(&s.help, "help", s.help, "")
	f.BoolVar(&s.help, "h", s.help, "")
	if given != nil {
		given.flags(f.FlagSet)
		f.StringVar(&s.json, "json", "", "")
		f.StringVar(&s.key, "idempotency-key", "", "")
		f.StringVar(&s.field, "field", "", "")
		f.BoolVar(&s.all, "all", false, "")
		f.BoolVar(&s.wait, "wait", false, "")
	}
	if f.Lookup("url") == nil {
		f.StringVar(&s.url, "url", s.url, "")
	}
	first := s.timeout == 0
	if first {
		s.attempts, s.timeout = 5, defaultTimeout
	}
	f.StringVar(&s.keyFile, "key-file", s.keyFile, "")
	f.BoolVar(&s.plain, "plain-http", s.plain, "")
	f.IntVar(&s.attempts, "attempts", s.attempts, "")
	f.DurationVar(&s.timeout, "timeout", s.timeout, "")
	return f
}

// parse reads flags, also such as stand behind the ids of an operation's path.
func (f flagSet) parse(args []string) error {
	var places []string
	for {
		if err := f.Parse(args); err != nil {
			return usage("%s: %s; `pressroom call %s --help` tells what there is", f.Name(), understood(err), f.Name())
		}
		args = f.Args()
		if len(args) == 0 || f.Name() == "call" {
			break
		}
		places, args = append(places, args[0]), args[1:]
	}
	if f.Name() == "call" {
		return nil
	}
	return f.Parse(append([]string{"--"}, places...)) //nolint:wrapcheck // behind -- nothing is wrong
}

// understood is what package flag says, without the values that were given: they may be secrets in the wrong place.
func understood(err error) string {
	if _, bad, ok := strings.Cut(err.Error(), "for flag "); ok {
		name, reason, _ := strings.Cut(bad, ": ")
		return "-" + name + " " + reason
	}
	return strings.Replace(err.Error(), "flag provided but not defined", "no such flag", 1)
}

// wrong is a command line that cannot be done.
type wrong struct{ error }

func usage(format string, values ...any) error { return wrong{fmt.Errorf(format, values...)} }

func isUsage(err error) bool {
	_, ok := errors.AsType[wrong](err)
	return ok
}

// flagName is an argument's name as a flag: account_ids is account-ids.
func flagName(a client.Argument) string { return strings.ReplaceAll(a.Name, "_", "-") }
