package reference

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is one argument, or one member of an answer.
type field struct {
	Name     string // with the names of what it stands in: accounts[].id
	Required bool
	Kind     string // integer, 1 to 100
	Type     string // the name of the type that it is of, where that has a place of its own
	At       string // that place
	About    string
	Choices  []string // the only values that it has
}

// fields are the members of a schema, and of the objects within it. Place tells where a named type is described.
func fields(s schema, prefix string, place func(string) string) []field {
	var out []field
	for _, p := range s.Properties {
		out = append(out, within(p.Value, prefix+p.Name, slices.Contains(s.Required, p.Name), place)...)
	}
	return out
}

func within(s schema, name string, required bool, place func(string) string) []field {
	f := field{Name: name, Required: required, Kind: kindOf(s), About: s.Description}
	inner := s
	for inner.Items != nil {
		inner, name = *inner.Items, name+"[]"
	}
	for _, c := range inner.Enum {
		f.Choices = append(f.Choices, fmt.Sprint(c))
	}
	if f.Type = inner.component(); f.Type != "" {
		f.At = place(f.Type)
	}
	return append([]field{f}, fields(inner, name+".", place)...)
}

// kindOf says in words which values a schema takes: "list of integers, 1 to 100 of them".
func kindOf(s schema) string {
	words := strings.Join(s.Type, " or ")
	switch {
	case s.Items == nil && words == "" && s.Ref == "":
		words = "any value"
	case s.Items != nil:
		words = "list"
		if inner := kindOf(*s.Items); inner != "" {
			words = "list of " + inner
		}
	}
	if s.Format != "" {
		words += " (" + s.Format + ")"
	}
	for _, bound := range []string{
		between(number(s.Minimum), number(s.Maximum), ""),
		between(whole(s.MinLength), whole(s.MaxLength), " characters"),
		between(whole(s.MinItems), whole(s.MaxItems), " of them"),
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

// between says what two bounds allow; either may be missing.
func between(least, most, of string) string {
	switch {
	case least == "" && most == "":
		return ""
	case most == "":
		return least + of + " or more"
	case least == "":
		return "at most " + most + of
	}
	return least + " to " + most + of
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func whole(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}
