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

	"pressroom/client"
)

// arguments are what an operation is given, by the names of the wire.
type arguments struct {
	operation client.Operation
	values    map[string]any
}

// flags adds one for each argument. Its value is only read, not checked: what is allowed the service says.
func (g *arguments) flags(f *flag.FlagSet) {
	for _, a := range g.operation.Arguments {
		f.Var(&value{argument: a, given: g}, flagName(a), "")
	}
}

// value is an argument as a flag. A list may be given at once, with commas, or one by one.
type value struct {
	argument client.Argument
	given    *arguments
}

func (v *value) String() string { return "" }

// IsBoolFlag lets --tracked-only stand without a value.
func (v *value) IsBoolFlag() bool { return v.argument.Type == "boolean" }

// Set reads a value.
func (v *value) Set(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("is not UTF-8")
	}
	read, err := v.read(text)
	if err != nil {
		return err
	}
	if more, ok := read.([]any); ok {
		if before, ok := v.given.values[v.argument.Name].([]any); ok {
			read = slices.Concat(before, more)
		}
	} else if _, twice := v.given.values[v.argument.Name]; twice {
		return errors.New("is given twice")
	}
	v.given.values[v.argument.Name] = read
	return nil
}

func (v *value) read(text string) (any, error) {
	if v.argument.Nullable && text == "null" {
		return nil, nil //nolint:nilnil // null is the value
	}
	switch v.argument.Type {
	case "integer":
		return integer(text)
	case "boolean":
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, errors.New("is neither true nor false")
		}
		return b, nil
	case "integers", "strings":
		return list(v.argument.Type, text)
	case "objects":
		objects := []any{}
		if err := json.Unmarshal([]byte(text), &objects); err != nil {
			return nil, errors.New("is no JSON list")
		}
		return objects, nil
	}
	return text, nil
}

func list(of, text string) ([]any, error) {
	found := []any{}
	if text == "" {
		return found, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		if of == "strings" {
			found = append(found, strings.TrimSpace(part))
			continue
		}
		n, err := integer(part)
		if err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, nil
}

func integer(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, errors.New("is no integer")
	}
	return n, nil
}

// keyed is the option that gives a call a key of one's own, none where the key is empty.
func (g *arguments) keyed(key string) []client.CallOption {
	if key == "" {
		return nil
	}
	return []client.CallOption{client.IdempotencyKey(key)}
}

// places takes what stands without a flag as the arguments of the path, in their order.
func (g *arguments) places(given []string) error {
	for _, a := range g.operation.Arguments {
		if _, there := g.values[a.Name]; a.In != "path" || there {
			continue
		}
		if len(given) == 0 {
			break
		}
		v := value{argument: a, given: g}
		if err := v.Set(given[0]); err != nil {
			return usage("%s: %s %w", g.operation.Name, a.Name, err)
		}
		given = given[1:]
	}
	if len(given) > 0 {
		return usage("%s: too many arguments without a flag", g.operation.Name)
	}
	return nil
}

// merge adds the members of a JSON object: given as text, as @FILE, or as - for standard input.
func (g *arguments) merge(text string, in io.Reader) error {
	if text == "" {
		return g.complete()
	}
	raw, err := []byte(text), error(nil)
	if text == "-" {
		raw, err = io.ReadAll(in)
	} else if file, ok := strings.CutPrefix(text, "@"); ok {
		raw, err = os.ReadFile(file) //nolint:gosec // the caller says which
	}
	if err != nil {
		return usage("--json cannot be read: %w", err)
	}
	if !utf8.Valid(raw) {
		return usage("--json is not UTF-8")
	}
	var members map[string]json.RawMessage // as they are written: a number stays exact
	if err := json.Unmarshal(raw, &members); err != nil {
		if bytes.HasPrefix(raw, []byte("\ufeff")) {
			return usage("--json begins with a byte order mark, which JSON does not have: save the file without it")
		}
		return usage("--json is no JSON object")
	}
	for name, member := range members {
		if _, twice := g.values[name]; twice {
			return usage("%s is given by --json and by a flag", name)
		}
		g.values[name] = member
	}
	return g.complete()
}

// complete tells of what is missing before anything is sent.
func (g *arguments) complete() error {
	var missing []string
	for _, a := range g.operation.Arguments {
		if _, there := g.values[a.Name]; a.Required && !there {
			missing = append(missing, "--"+flagName(a))
		}
	}
	if len(missing) > 0 {
		return usage("%s needs %s", g.operation.Name, strings.Join(missing, ", "))
	}
	return nil
}

// uploaded is a file as `upload` tells of it.
type uploaded struct {
	File    string `json:"file"`
	MediaID int64  `json:"media_id,omitempty"`
	Error   string `json:"error,omitempty"`
}

func shown(paths []string, results []client.Uploaded) map[string]any {
	files := make([]uploaded, len(results))
	for i, r := range results {
		files[i] = uploaded{File: paths[i], MediaID: r.MediaID}
		if r.Err != nil {
			files[i].Error = fmt.Sprint(r.Err)
		}
	}
	return map[string]any{"files": files}
}
