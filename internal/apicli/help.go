package apicli

import (
	"fmt"
	"io"
	"strings"

	"pressroom/client"
)

const introduction = `Usage: pressroom call OPERATION [ID…] [--ARGUMENT VALUE…]

Calls an operation of the API and prints its answer as JSON. The key comes from PRESSROOM_KEY, or from a file that
PRESSROOM_KEY_FILE or --key-file names; the service's address from --url or PRESSROOM_URL, else http://127.0.0.1:8080.

`

const ending = `
Every operation takes:
  --url URL               the service's address; before the operation's name where that has a --url of its own
  --key-file FILE         a file that holds the API key
  --json OBJECT           arguments as JSON: the text, @FILE, or - for standard input
  --all                   every page, a line of JSON each
  --field PATH            one member of the answer alone, such as data.id or data.posts.0.id
  --wait                  wait for the job and print it in place of the first answer; of get_job, for the job that it names
  --idempotency-key KEY   of a write, to repeat a command without doing it twice; made for each command where omitted
  --attempts N            how often a call is tried at most (5)
  --timeout DURATION      how long the command may take (10m)
  --plain-http            let the key go over plain http to another machine
  --help                  of one operation: what it takes

Exit status: 0 done · 1 something on this machine · 2 the command line · 3 the key is wrong or may not · 4 no such item · 5 the arguments or
the item's state do not allow it · 6 a limit or the credits are used up · 7 the job did not wholly succeed · 8 no answer, or the service failed:
a write may have been done · 9 accepted, and the job has not been seen to end: wait on with get_job · 130 interrupted
`

func overview(w io.Writer) {
	fmt.Fprint(w, introduction)
	for _, o := range append(client.Operations(), uploading) {
		fmt.Fprintf(w, "  %-24s %s\n", o.Name, o.Summary)
	}
	fmt.Fprint(w, ending)
}

// describe tells of one operation what the API's description says.
func describe(w io.Writer, o client.Operation) {
	fmt.Fprintf(w, "%s: %s\n\n", o.Name, o.Summary)
	fill(w, "", o.Description)
	if len(o.Arguments) > 0 {
		fmt.Fprint(w, "\nArguments:\n")
	}
	for _, a := range o.Arguments {
		fmt.Fprintf(w, "  --%s %s%s\n", flagName(a), form(a), limits(a))
		if a.Description != "" {
			fill(w, "      ", a.Description)
		}
	}
	fmt.Fprint(w, ending)
}

func form(a client.Argument) string {
	if len(a.Values) > 0 {
		return strings.Join(a.Values, "|")
	}
	switch a.Type {
	case "integer":
		return "N"
	case "boolean":
		return "(or --" + flagName(a) + "=false)"
	case "integers":
		return "N,N…"
	case "strings":
		return "TEXT,TEXT…"
	case "objects":
		return "JSON"
	}
	return "TEXT"
}

func limits(a client.Argument) string {
	switch {
	case a.Required:
		return "  (needed)"
	case a.Default != "":
		return "  (" + a.Default + " where omitted)"
	}
	return ""
}

// fill writes a text in lines of a readable length.
func fill(w io.Writer, indent, text string) {
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
