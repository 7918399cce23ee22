package apicli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/client"
)

// settings holds the flags that all commands share.
type settings struct {
	url, keyFile, profile, key, json string
	output                           output
	allPages, wait, plainHTTP, help  bool
	attempts                         int
	timeout                          time.Duration
}

// flagSet holds the flags of a command. They may come before or after the operation.
type flagSet struct{ *flag.FlagSet }

// flags returns the flags of an operation, or only the common flags if callArgs is nil. An operation's own flags, such
// as --url of import_media, take precedence.
func (s *settings) flags(name string, callArgs *arguments) flagSet {
	f := flagSet{flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(io.Discard)
	f.BoolVar(&s.help, "help", s.help, "")
	f.BoolVar(&s.help, "h", s.help, "")
	if callArgs != nil {
		callArgs.flags(f.FlagSet)
		f.StringVar(&s.json, "json", "", "")
		f.StringVar(&s.key, "idempotency-key", "", "")
		f.StringVar(&s.output.field, "field", "", "")
		f.StringVar(&s.output.jq, "jq", "", "")
		f.StringVar(&s.output.format, "output", "json", "")
		f.StringVar(&s.output.format, "o", "json", "")
		f.BoolVar(&s.allPages, "all", false, "")
		f.BoolVar(&s.wait, "wait", false, "")
	}
	if f.Lookup("url") == nil {
		f.StringVar(&s.url, "url", s.url, "")
	}
	if f.Lookup("profile") == nil {
		f.StringVar(&s.profile, "profile", s.profile, "")
	}
	isFirst := s.timeout == 0
	if isFirst {
		s.attempts, s.timeout = 5, defaultTimeout
	}
	f.StringVar(&s.keyFile, "key-file", s.keyFile, "")
	f.BoolVar(&s.plainHTTP, "plain-http", s.plainHTTP, "")
	f.IntVar(&s.attempts, "attempts", s.attempts, "")
	f.DurationVar(&s.timeout, "timeout", s.timeout, "")
	return f
}

// parse parses flags. They may come before or after positional arguments.
func (f flagSet) parse(args []string) error {
	var operands []string
	for i, arg := range args {
		if format, ok := strings.CutPrefix(arg, "-o"); ok && slices.Contains(formats, format) { // as in -oyaml
			args = slices.Replace(slices.Clone(args), i, i+1, "-o="+format)
		}
	}
	for {
		if err := f.Parse(args); err != nil {
			return usagef("%s: %s; for usage, run: pressroom call %s --help", f.Name(), redactFlagError(err), f.Name())
		}
		args = f.Args()
		if len(args) == 0 || f.Name() == "call" {
			break
		}
		operands, args = append(operands, args[0]), args[1:]
	}
	if f.Name() == "call" {
		return nil
	}
	return f.Parse(append([]string{"--"}, operands...)) //nolint:wrapcheck // cannot fail after --
}

var (
	invalidValue = regexp.MustCompile(`(?s)^invalid (?:boolean )?value "(?:[^"\\]|\\.)*" for (?:flag )?-([^:]+): (.*)$`)
	missingValue = regexp.MustCompile(`^flag needs an argument: -`)
	unknownFlag  = regexp.MustCompile(`^flag provided but not defined: -`)
)

// redactFlagError returns the text of an error from package flag. It leaves out the flag's value, which may be a
// misplaced secret.
func redactFlagError(err error) string {
	text := err.Error()
	if match := invalidValue.FindStringSubmatch(text); match != nil {
		return "--" + match[1] + " " + strings.Replace(match[2], "parse error", "has an invalid value", 1)
	}
	text = missingValue.ReplaceAllString(text, "this flag needs a value: --")
	return unknownFlag.ReplaceAllString(text, "unknown flag: --")
}

// usageError is an error in the command line.
type usageError struct{ error }

func usagef(format string, values ...any) error { return usageError{fmt.Errorf(format, values...)} }

func isUsage(err error) bool {
	_, ok := errors.AsType[usageError](err)
	return ok
}

// flagName returns the flag of an argument: account-ids for account_ids.
func flagName(a client.Argument) string { return strings.ReplaceAll(a.Name, "_", "-") }
