package apicli

import (
	"slices"
	"strings"

	"pressroom.example/pressroom/client"
)

// Complete returns the possible completions of the last word in words. The first word names an operation or a resource.
func Complete(words []string) []string {
	last := words[len(words)-1]
	var candidates []string
	switch operation, args, err := findOperation(words); {
	case len(words) == 1:
		for _, r := range Resources() {
			candidates = append(candidates, r.Name)
			for _, v := range r.Verbs {
				candidates = append(candidates, v.Operation.Name)
			}
		}
	case err != nil && len(words) == 2:
		for _, r := range Resources() {
			for _, v := range r.Verbs {
				if r.Name == words[0] {
					candidates = append(candidates, v.Name)
				}
			}
		}
	case err == nil && len(args) > 0:
		candidates = completeArgument(operation, args)
	}
	return slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, last) })
}

// completeArgument returns completions for an operation's arguments. If the possible values of the preceding flag are
// known, it returns those values. Otherwise, it returns the operation's flags.
func completeArgument(o client.Operation, args []string) []string {
	previous := ""
	if len(args) > 1 {
		previous = strings.TrimLeft(args[len(args)-2], "-")
	}
	last := args[len(args)-1]
	switch {
	case previous == "output" || previous == "o":
		return slices.Clone(formats)
	case previous == "key-file", o.Name == uploadOperation.Name && !strings.HasPrefix(last, "-"):
		return nil // so that the shell completes file names
	}
	flags := commonFlags(o)
	for _, a := range o.Arguments {
		if previous == flagName(a) && len(a.Values) > 0 {
			return slices.Clone(a.Values)
		}
		if f := "--" + flagName(a); !slices.Contains(flags, f) {
			flags = append(flags, f)
		}
	}
	return flags
}

// commonFlags returns the flags that an operation has in addition to the flags for its arguments.
func commonFlags(o client.Operation) []string {
	flags := []string{"--output", "--jq", "--field", "--json", "--attempts", "--timeout", "--url", "--key-file", "--plain-http", "--help"}
	if o.Paged {
		flags = append(flags, "--all")
	}
	if o.StartsJob || o.Name == getJob {
		flags = append(flags, "--wait")
	}
	if o.TakesKey {
		flags = append(flags, "--idempotency-key")
	}
	return flags
}
