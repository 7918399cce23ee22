package apicli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/client"
)

// arguments holds the arguments of a call, by their JSON names.
type arguments struct {
	operation client.Operation
	values    map[string]any
}

// flags adds a flag for each argument. Values are parsed but not validated, because the service validates them.
func (g *arguments) flags(f *flag.FlagSet) {
	for _, a := range g.operation.Arguments {
		f.Var(&argumentFlag{argument: a, args: g}, flagName(a), "")
	}
}

// argumentFlag is the flag.Value of an argument. The values of a list are separated by commas or passed in repeated
// flags.
type argumentFlag struct {
	argument client.Argument
	args     *arguments
}

func (v *argumentFlag) String() string { return "" }

// IsBoolFlag reports whether the flag can be used without a value.
func (v *argumentFlag) IsBoolFlag() bool { return v.argument.Type == "boolean" }

// Set parses a value.
func (v *argumentFlag) Set(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("is not UTF-8")
	}
	value, err := v.parse(text)
	if err != nil {
		return err
	}
	if newValues, ok := value.([]any); ok {
		if oldValues, ok := v.args.values[v.argument.Name].([]any); ok {
			value = slices.Concat(oldValues, newValues)
		}
	} else if _, isDuplicate := v.args.values[v.argument.Name]; isDuplicate {
		return errors.New("is given twice")
	}
	v.args.values[v.argument.Name] = value
	return nil
}

func (v *argumentFlag) parse(text string) (any, error) {
	if v.argument.Nullable && text == "null" {
		return nil, nil //nolint:nilnil // null is the value
	}
	switch v.argument.Type {
	case "integer":
		return parseInteger(text)
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("must be true or false")
		}
		return b, nil
	case "integers", "strings":
		return parseList(v.argument.Type, text)
	case "objects":
		objects := []any{}
		if err := json.Unmarshal([]byte(text), &objects); err != nil {
			return nil, errors.New("must be a JSON array")
		}
		return objects, nil
	}
	return text, nil
}

func parseList(listType, text string) ([]any, error) {
	values := []any{}
	if text == "" {
		return values, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if listType == "strings" {
			values = append(values, strings.TrimSpace(part))
			continue
		}
		n, err := parseInteger(part)
		if err != nil {
			return nil, err
		}
		values = append(values, n)
	}
	return values, nil
}

func parseInteger(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, errors.New("is not an integer")
	}
	return n, nil
}

// callOptions returns the call option for an idempotency key. It returns nil if key is empty.
func (g *arguments) callOptions(key string) []client.CallOption {
	if key == "" {
		return nil
	}
	return []client.CallOption{client.IdempotencyKey(key)}
}

// setPositional sets the path arguments, in order, from the positional command-line arguments.
func (g *arguments) setPositional(args []string) error {
	for _, a := range g.operation.Arguments {
		if _, ok := g.values[a.Name]; a.In != "path" || ok {
			continue
		}
		if len(args) == 0 {
			break
		}
		v := argumentFlag{argument: a, args: g}
		if err := v.Set(args[0]); err != nil {
			return usagef("%s: %s %w", g.operation.Name, a.Name, err)
		}
		args = args[1:]
	}
	if len(args) > 0 {
		return usagef("%s: too many positional arguments", g.operation.Name)
	}
	return nil
}

// addJSON adds the members of a JSON object as arguments. text is the object itself, @FILE, or - for standard input.
func (g *arguments) addJSON(text string, in io.Reader) error {
	if text == "" {
		return g.checkRequired()
	}
	raw, err := []byte(text), error(nil)
	if text == "-" {
		raw, err = io.ReadAll(in)
	} else if file, ok := strings.CutPrefix(text, "@"); ok {
		raw, err = os.ReadFile(file) //nolint:gosec // the caller chooses the file
	}
	if err != nil {
		return usagef("cannot read --json: %w", err)
	}
	if !utf8.Valid(raw) {
		return usagef("--json is not UTF-8")
	}
	var members map[string]json.RawMessage // kept as raw JSON so that numbers stay exact
	if err := json.Unmarshal(raw, &members); err != nil {
		if bytes.HasPrefix(raw, []byte("\ufeff")) {
			return usagef("--json begins with a byte order mark (BOM); save the file without a BOM")
		}
		return usagef("--json must be a JSON object")
	}
	for name, member := range members {
		if _, isDuplicate := g.values[name]; isDuplicate {
			return usagef("%s is given both in --json and as a flag", name)
		}
		g.values[name] = member
	}
	return g.checkRequired()
}

// checkRequired returns an error if required arguments are missing.
func (g *arguments) checkRequired() error {
	var missing []string
	for _, a := range g.operation.Arguments {
		_, ok := g.values[a.Name]
		switch {
		case ok || !a.Required:
		case a.In == "path":
			missing = append(missing, positionalPlaceholder(a))
		default:
			missing = append(missing, "--"+flagName(a))
		}
	}
	if len(missing) > 0 {
		return usagef("%s requires %s", g.operation.Name, strings.Join(missing, ", "))
	}
	return nil
}

// uploadResult is the result of `pressroom call upload` for one file.
type uploadResult struct {
	File    string `json:"file"`
	MediaID int64  `json:"media_id,omitempty"`
	Error   string `json:"error,omitempty"`
}

func newUploadReport(paths []string, results []client.Uploaded) map[string]any {
	files := make([]uploadResult, len(results))
	for i, r := range results {
		files[i] = uploadResult{File: paths[i], MediaID: r.MediaID}
		if r.Err != nil {
			files[i].Error = fmt.Sprint(r.Err)
		}
	}
	return map[string]any{"files": files}
}
