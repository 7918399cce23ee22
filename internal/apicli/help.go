package apicli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"pressroom.example/pressroom/client"
)

const overviewHeader = `Usage: pressroom RESOURCE VERB [ID...] [--ARGUMENT VALUE...]
       pressroom call OPERATION [ID...] [--ARGUMENT VALUE...]

Call an API operation and print its response. Each operation has two names: pressroom posts create and
pressroom call create_post are the same.

Sign in first with pressroom login, which stores a profile. Or use an API key: set PRESSROOM_KEY to the key, or set
--key-file or PRESSROOM_KEY_FILE to a file that contains it. A key takes precedence over a profile that was not selected
with --profile. A profile contains the URL of its service. With a key, set --url or PRESSROOM_URL (default
http://127.0.0.1:8080).

Operations:
`

const overviewFooter = `
Flags:
  --url URL               Base URL of the service; put it before the operation if the operation has its own --url
  --profile NAME          Profile from pressroom login (default PRESSROOM_PROFILE, or the profile named default)
  --key-file FILE         File that contains the API key
  --json OBJECT           Arguments as JSON: an object, @FILE, or - for standard input
  --output, -o FORMAT     json (default), yaml, or table, which shows only the main members
  --jq EXPRESSION         Print the results of a jq expression, with strings unquoted
  --all                   Print all pages, each as one line of JSON
  --field PATH            Print one member of the response, such as data.id or data.posts.0.id
  --wait                  Wait for the job and print it instead of the first response
  --idempotency-key KEY   Key that makes it safe to repeat a write (default: random)
  --attempts N            Maximum attempts per call (default 5)
  --timeout DURATION      Time limit for the command (default 10m)
  --plain-http            Allow sending the key over plain HTTP to another machine
  --help                  Show the arguments of an operation

Exit status:
  0    Success
  1    Local error
  2    Usage error; nothing was sent
  3    The key is wrong or not allowed to do this
  4    Not found
  5    Rejected because of the arguments or the item's state
  6    A limit or the credits are used up
  7    The job failed, at least in part
  8    No response, or the service failed; a write may have taken effect
  9    Accepted, but the job has not finished; continue with get_job --wait
  130  Interrupted
`

func printOverview(w io.Writer) {
	fmt.Fprint(w, overviewHeader)
	for _, r := range Resources() {
		for _, v := range r.Verbs {
			fmt.Fprintf(w, "  %-33s %-23s %s\n", r.Name+" "+v.Name, v.Operation.Name, v.Operation.Summary)
		}
	}
	fmt.Fprint(w, overviewFooter)
}

// printResource prints the verbs of a resource.
func printResource(w io.Writer, r Resource) {
	fmt.Fprintf(w, "Usage: pressroom %s VERB [ID...] [--ARGUMENT VALUE...]\n\nVerbs:\n", r.Name)
	for _, v := range r.Verbs {
		fmt.Fprintf(w, "  %-14s %-23s %s\n", v.Name, v.Operation.Name, v.Operation.Summary)
	}
	fmt.Fprintf(w, "\nTo show the arguments of a verb, run: pressroom %s VERB --help\n", r.Name)
}

func isHelp(arg string) bool { return slices.Contains([]string{"--help", "-help", "-h"}, arg) }

// printHelp prints the description and arguments of an operation.
func printHelp(w io.Writer, o client.Operation) {
	resource, verb := resourceVerb(o)
	fmt.Fprintf(w, "%s %s (%s): %s\n\n", resource, verb, o.Name, o.Summary)
	printWrapped(w, "", o.Description)
	fmt.Fprintf(w, "\nUsage: pressroom %s %s%s [--ARGUMENT VALUE...]\n", resource, verb, positionalPlaceholders(o))
	if len(o.Arguments) > 0 {
		fmt.Fprint(w, "\nArguments:\n")
	}
	for _, a := range o.Arguments {
		alternative := ""
		if a.In == "path" {
			alternative = positionalPlaceholder(a) + " or "
		}
		fmt.Fprintf(w, "  %s--%s %s%s\n", alternative, flagName(a), valuePlaceholder(a), argumentNote(a))
		if a.Description != "" {
			printWrapped(w, "      ", a.Description)
		}
	}
	fmt.Fprint(w, "\nFor the flags of all operations and the exit statuses, run: pressroom call --help\n")
}

// positionalPlaceholders returns the placeholders of an operation's positional arguments.
func positionalPlaceholders(o client.Operation) string {
	if o.Name == uploadOperation.Name {
		return " FILE..."
	}
	var text strings.Builder
	for _, a := range o.Arguments {
		if a.In == "path" {
			text.WriteString(" " + positionalPlaceholder(a))
		}
	}
	return text.String()
}

// positionalPlaceholder returns the placeholder of a path argument.
func positionalPlaceholder(a client.Argument) string { return strings.ToUpper(a.Name) }

func valuePlaceholder(a client.Argument) string {
	if len(a.Values) > 0 {
		return strings.Join(a.Values, "|")
	}
	switch a.Type {
	case "integer":
		return "N"
	case "boolean":
		return "(or --" + flagName(a) + "=false)"
	case "integers":
		return "N,N..."
	case "strings":
		return "TEXT,TEXT..."
	case "objects":
		return "JSON"
	}
	return "TEXT"
}

func argumentNote(a client.Argument) string {
	switch {
	case a.Required:
		return "  (required)"
	case a.Default != "":
		return "  (default " + a.Default + ")"
	}
	return ""
}

// printWrapped prints text in lines of at most 100 bytes. Longer words are not broken.
func printWrapped(w io.Writer, indent, text string) {
	const width = 100
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > width && line != indent {
			fmt.Fprintln(w, line)
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, line)
}
