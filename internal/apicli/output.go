package apicli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/itchyny/gojq"
	"go.yaml.in/yaml/v3"
)

// output selects how a response is printed.
type output struct {
	format string // json, yaml or table
	field  string // path of one member
	jq     string // jq expression
}

var formats = []string{"json", "yaml", "table"}

// check returns an error if the output settings are invalid.
func (o output) check() error {
	switch {
	case !slices.Contains(formats, o.format):
		return usagef("--output must be one of: %s", strings.Join(formats, ", "))
	case o.field != "" && o.jq != "":
		return usagef("--field and --jq cannot be used together")
	case o.jq == "":
		return nil
	}
	if _, err := gojq.Parse(o.jq); err != nil {
		return usagef("--jq: %w", err)
	}
	return nil
}

// printAs prints a response, one of its members, or the results of a jq expression. It prints members and results that
// are strings without quotes.
func (t Terminal) printAs(raw json.RawMessage, o output) error {
	values := []json.RawMessage{raw}
	var err error
	switch {
	case o.field != "":
		values[0], err = findMember(raw, o.field)
	case o.jq != "":
		values, err = runQuery(raw, o.jq)
	}
	if err != nil {
		return err
	}
	for _, value := range values {
		if err := t.printValue(value, o); err != nil {
			return fmt.Errorf("printing the response: %w", err)
		}
	}
	return nil
}

func (t Terminal) printValue(value json.RawMessage, o output) error {
	var text string
	if (o.field != "" || o.jq != "") && json.Unmarshal(value, &text) == nil && string(value) != "null" {
		_, err := fmt.Fprintln(t.Out, text)
		return err //nolint:wrapcheck // printAs wraps it
	}
	switch o.format {
	case "yaml":
		return t.printYAML(value)
	case "table":
		return t.printTable(value)
	}
	return t.print(value)
}

// findMember returns the member of a JSON value at a path such as data.posts.0.id.
func findMember(raw json.RawMessage, path string) (json.RawMessage, error) {
	for name := range strings.SplitSeq(path, ".") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		if n, err := strconv.Atoi(name); err == nil && json.Unmarshal(raw, &list) == nil && n >= 0 && n < len(list) {
			raw = list[n]
			continue
		}
		if json.Unmarshal(raw, &object) != nil || object[name] == nil {
			return nil, fmt.Errorf("the response does not contain %s", path)
		}
		raw = object[name]
	}
	return raw, nil
}

// runQuery returns the results of a jq expression.
func runQuery(raw json.RawMessage, expression string) ([]json.RawMessage, error) {
	expr, err := gojq.Parse(expression)
	if err != nil {
		return nil, usagef("--jq: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	var out []json.RawMessage
	for results := expr.Run(convertNumbers(value)); ; {
		v, ok := results.Next()
		if !ok {
			return out, nil
		}
		if err, isErr := v.(error); isErr {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				return out, nil
			}
			return nil, fmt.Errorf("--jq: %w", err)
		}
		encoded, err := gojq.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("--jq: %w", err)
		}
		out = append(out, encoded)
	}
}

// convertNumbers converts numbers to types that gojq supports. Integers that fit in an int stay exact.
func convertNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil && n >= math.MinInt && n <= math.MaxInt {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = convertNumbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = convertNumbers(v[name])
		}
	}
	return v
}

// printYAML prints JSON as YAML. It keeps the order of the members.
func (t Terminal) printYAML(value json.RawMessage) error {
	var node yaml.Node
	if err := yaml.Unmarshal(value, &node); err != nil { // valid because JSON is a subset of YAML
		return fmt.Errorf("reading the response as YAML: %w", err)
	}
	useBlockStyle(&node)
	enc := yaml.NewEncoder(t.Out)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(&node), enc.Close())
}

func useBlockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		useBlockStyle(child)
	}
}

// printTable prints the first list of objects in data as a table. If there is no such list, it prints the members of
// data. If value has no member data, it prints value itself. Tables omit members that are lists or objects, except
// instants.
func (t Terminal) printTable(value json.RawMessage) error {
	var envelope struct {
		Data json.RawMessage `json:"data"`
		Page struct {
			More   bool   `json:"has_more"`
			Cursor string `json:"cursor"`
		} `json:"page"`
	}
	if json.Unmarshal(value, &envelope) == nil && envelope.Data != nil {
		value = envelope.Data
	}
	var aligned bytes.Buffer
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	rows, ok := listOf(value)
	if !ok {
		printItem(w, value, "")
		return t.printAligned(w, &aligned, paintItem)
	}
	columns := columnsOf(rows)
	writeRow := func(cells []string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	var headings []string
	for _, c := range columns {
		headings = append(headings, formatHeading(c))
	}
	writeRow(headings)
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			cells[i], _ = formatCell(row, c)
			if c != "id" && !strings.HasSuffix(c, "_id") {
				cells[i] = shorten(cells[i])
			}
		}
		writeRow(cells)
	}
	if envelope.Page.More {
		fmt.Fprintf(t.Err, "There are more pages. Add --all to get them all, or --cursor %s to get the next one.\n",
			envelope.Page.Cursor)
	}
	return t.printAligned(w, &aligned, paintList)
}

// printItem prints the members of an object and of the objects in it. For an inner object, prefix is its name and an
// underscore.
func printItem(w io.Writer, object json.RawMessage, prefix string) {
	var members map[string]json.RawMessage
	// An inner object with the member untrusted is a reference to third-party text.
	if json.Unmarshal(object, &members) != nil || prefix != "" && members["untrusted"] != nil {
		return
	}
	for _, name := range memberNames(object) {
		if text, ok := formatCell(object, name); ok {
			fmt.Fprintf(w, "%s\t%s\n", formatHeading(prefix+name), text)
		} else if prefix == "" {
			printItem(w, members[name], name+"_")
		}
	}
}

// printAligned prints the lines of a table without trailing spaces. It adds colors after the alignment, because the
// alignment would count them as characters.
func (t Terminal) printAligned(w *tabwriter.Writer, aligned *bytes.Buffer, color func(string) string) error {
	if err := w.Flush(); err != nil {
		return err //nolint:wrapcheck // printAs wraps it
	}
	var text strings.Builder
	for line := range strings.Lines(aligned.String()) {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	out := text.String()
	if t.Color {
		out = color(out)
	}
	_, err := io.WriteString(t.Out, out)
	return err //nolint:wrapcheck // printAs wraps it
}

// listOf returns a list of objects. The list is the value itself or, if the value is an object, the first such list
// among its members.
func listOf(value json.RawMessage) ([]json.RawMessage, bool) {
	var rows []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case bytes.HasPrefix(value, []byte("[")) && json.Unmarshal(value, &rows) == nil:
		return rows, true
	case json.Unmarshal(value, &object) != nil, object["id"] != nil, object["job_id"] != nil:
		return nil, false // a single record, which may contain lists
	}
	for _, name := range memberNames(value) {
		list := object[name]
		if json.Unmarshal(list, &rows) == nil && (string(list) == "[]" || bytes.HasPrefix(list, []byte("[{"))) {
			return rows, true
		}
	}
	return nil, false
}

// columnsOf returns the names of all scalar members in rows. A member that is missing from some rows comes after the
// member that precedes it in the rows that have it.
func columnsOf(rows []json.RawMessage) []string {
	var columns []string
	for _, row := range rows {
		next := 0
		for _, name := range memberNames(row) {
			if _, ok := formatCell(row, name); !ok {
				continue
			}
			i := slices.Index(columns, name)
			if i < 0 {
				i = next
				columns = slices.Insert(columns, i, name)
			}
			next = i + 1
		}
	}
	return columns
}

// memberNames returns the names of an object's members in their original order.
func memberNames(object json.RawMessage) []string {
	var out []string
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			break
		}
		out = append(out, fmt.Sprint(name))
	}
	return out
}

const maxCell = 48 // maximum number of characters in a cell

// formatCell returns a scalar member as one line of text, and reports whether the object has such a member. An instant
// is formatted in the team's time zone. Spaces replace control characters, which could affect the terminal.
func formatCell(object json.RawMessage, name string) (string, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return "", false
	}
	raw := members[name]
	var instant struct {
		Team string `json:"team"`
	}
	var text string
	switch {
	case len(raw) == 0 || raw[0] == '[' || string(raw) == "null":
		return "", false
	case raw[0] == '{':
		if json.Unmarshal(raw, &instant) != nil || instant.Team == "" {
			return "", false
		}
		text = formatMinute(instant.Team)
	case json.Unmarshal(raw, &text) != nil:
		text = string(raw)
	}
	return oneLine(text), true
}

// oneLine replaces line breaks and control characters in a text with spaces.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
}

// formatMinute formats an RFC 3339 time without seconds, as in 2026-11-27 14:34 +01:00.
func formatMinute(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return at.Format("2006-01-02 15:04 -07:00")
}

// shorten truncates the text of a cell to maxCell characters.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return text
}

func formatHeading(name string) string { return strings.ToUpper(strings.ReplaceAll(name, "_", " ")) }
