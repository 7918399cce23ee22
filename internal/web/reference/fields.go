package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is an argument, or a member of a response.
type field struct {
	Name     string // with the names of its parents, such as accounts[].id
	Required bool
	Kind     string // description of the allowed values, such as "integer, 1 to 100"
	Type     string // name of the type if it is described separately
	At       string // where the type is described
	About    string
	Choices  []string // enumerated values
	// SameAs is an earlier operation that describes the fields of this argument. It is nil if the fields follow here.
	SameAs *describingOperation
}

// fields returns the members of a schema and of its nested objects. typePath returns the path of a named type's
// description.
func fields(s schema, prefix string, typePath func(string) string) []field {
	var out []field
	for _, p := range s.Properties {
		out = append(out, fieldTree(p.Value, prefix+p.Name, slices.Contains(s.Required, p.Name), typePath)...)
	}
	return out
}

func fieldTree(s schema, name string, required bool, typePath func(string) string) []field {
	f := field{Name: name, Required: required, Kind: describeKind(s), About: s.Description}
	inner := s
	for inner.Items != nil {
		inner, name = *inner.Items, name+"[]"
	}
	for _, c := range inner.Enum {
		f.Choices = append(f.Choices, fmt.Sprint(c))
	}
	if f.Type = inner.component(); f.Type != "" {
		f.At = typePath(f.Type)
	}
	return append([]field{f}, fields(inner, name+".", typePath)...)
}

// describeKind describes the values that a schema allows, such as "array of integers, 1 to 100 of them".
func describeKind(s schema) string {
	words := strings.Join(s.Type, " or ")
	switch {
	case s.Items == nil && words == "" && s.Ref == "":
		words = "any value"
	case s.Items != nil:
		words = strings.TrimSpace("array of " + pluralize(describeKind(*s.Items)))
	}
	if s.Format != "" && s.Format != "int64" { // every integer has 64 bits
		words += " (" + s.Format + ")"
	}
	for _, bound := range []string{
		describeRange(formatFloat(s.Minimum), formatFloat(s.Maximum), ""),
		describeRange(formatInt(s.MinLength), formatInt(s.MaxLength), " characters"),
		describeRange(formatInt(s.MinItems), formatInt(s.MaxItems), " of them"),
	} {
		if bound != "" {
			words += ", " + bound
		}
	}
	if len(s.Default) > 0 && json.Valid(s.Default) {
		words += ", else " + string(s.Default)
	}
	return words
}

// pluralize returns a description in the plural, such as "strings, at most 10 characters".
func pluralize(kind string) string {
	for _, word := range []string{"string", "integer", "number", "object", "boolean"} {
		if rest, ok := strings.CutPrefix(kind, word); ok {
			return word + "s" + rest
		}
	}
	return kind
}

// describeRange describes a range of values with a unit. An empty bound means that the range has no such bound.
func describeRange(low, high, unit string) string {
	switch {
	case low == "" && high == "":
		return ""
	case high == "":
		return low + unit + " or more"
	case low == "":
		return "at most " + high + unit
	}
	return low + " to " + high + unit
}

func formatFloat(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func formatInt(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
