package clientgen

import (
	"slices"
	"strconv"
	"strings"
)

var pyBasic = map[string]string{
	"string": "str", "integer": "int", "number": "float", "boolean": "bool", "any": "Any", "string_map": "dict[str, str]",
}

// pyKeywords lists the Python keywords that occur as names of arguments or members.
var pyKeywords = []string{"from"}

func isPyKeyword(name string) bool { return slices.Contains(pyKeywords, name) }

// pyName returns an argument's name in Python.
func pyName(name string) string {
	if isPyKeyword(name) {
		return name + "_"
	}
	return name
}

// Functional reports whether the record needs the functional syntax for TypedDict.
func (r *record) Functional() bool {
	return slices.ContainsFunc(r.Fields, func(f field) bool { return isPyKeyword(f.Wire) })
}

// pyType returns the Python type of a field. Lists in inputs are sequences, so that callers can pass tuples.
func pyType(r *record, f field) string {
	base := unionType(f, pyBasic, pyLiteral)
	switch {
	case f.Shape.List && r.Input:
		base = "Sequence[" + base + "]"
	case f.Shape.List:
		base = "list[" + base + "]"
	}
	if f.Nullable() {
		base += " | None"
	}
	return base
}

// pyMember returns the type of a TypedDict's member.
func pyMember(r *record, f field) string {
	if f.Required {
		return pyType(r, f)
	}
	return "NotRequired[" + pyType(r, f) + "]"
}

// pyParameter returns a keyword parameter of a method.
func pyParameter(r *record, f field) string {
	switch {
	case f.Required:
		return pyName(f.Wire) + ": " + pyType(r, f)
	case f.Nullable():
		return pyName(f.Wire) + ": " + pyType(r, f) + " | Unset = UNSET"
	}
	return pyName(f.Wire) + ": " + pyType(r, f) + " | None = None"
}

// pyParameters returns the parameters of a method, with required parameters first. Path parameters may be positional.
func pyParameters(c *call, r *record, key bool) string {
	positional := []string{"self"}
	var required, optional []string
	for _, f := range r.Fields {
		inPath := slices.ContainsFunc(c.Arguments, func(a argument) bool { return a.Name == f.Wire && a.In == "path" })
		switch {
		case inPath:
			positional = append(positional, pyParameter(r, f))
		case f.Required:
			required = append(required, pyParameter(r, f))
		default:
			optional = append(optional, pyParameter(r, f))
		}
	}
	first := strings.Join(positional, ", ")
	keywordOnly := slices.Concat(required, optional)
	if key {
		keywordOnly = append(keywordOnly, "idempotency_key: str | None = None")
	}
	switch {
	case len(keywordOnly) == 0:
		return first
	case len(keywordOnly) < 3:
		return first + ", *, " + strings.Join(keywordOnly, ", ")
	}
	return "\n        " + strings.Join(positional, ",\n        ") + ",\n        *,\n        " +
		strings.Join(keywordOnly, ",\n        ") + ",\n    "
}

// pyArguments returns a dictionary of the arguments of a method.
func pyArguments(r *record) string {
	pairs := make([]string, len(r.Fields))
	for i, f := range r.Fields {
		pairs[i] = strconv.Quote(f.Wire) + ": " + pyName(f.Wire)
	}
	if len(pairs) > 3 {
		return "{\n            " + strings.Join(pairs, ",\n            ") + ",\n        }"
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// pyPlaces returns a dictionary that maps each argument of an operation to path, query or body.
func pyPlaces(c *call) string {
	pairs := make([]string, len(c.Arguments))
	for i, a := range c.Arguments {
		pairs[i] = strconv.Quote(a.Name) + ": " + strconv.Quote(a.In)
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}

// pyNullable returns the set of an operation's arguments that null clears, or an empty string if there are none.
func pyNullable(c *call) string {
	var names []string
	for _, a := range c.Arguments {
		if a.Nullable {
			names = append(names, strconv.Quote(a.Name))
		}
	}
	if names == nil {
		return ""
	}
	return "frozenset({" + strings.Join(names, ", ") + "})"
}

func pyLiteral(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return "Literal[" + strings.Join(quoted, ", ") + "]"
}

// pyDoc returns text as a docstring, or an empty string if text is empty.
func pyDoc(indent, text string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\`, `\\`), `"""`, `\"\"\"`)
	lines := wrap(indent, text)
	if strings.Count(lines, "\n") == 1 {
		return indent + `"""` + strings.TrimSpace(lines) + "\"\"\"\n"
	}
	return indent + `"""` + strings.TrimPrefix(lines, indent) + indent + "\"\"\"\n"
}

// inputOf returns the record of a call's arguments, or an empty record if the call has none.
func inputOf(records []*record, c *call) *record {
	i := slices.IndexFunc(records, func(r *record) bool { return r.Name == c.Input })
	if i < 0 {
		return &record{Input: true}
	}
	return records[i]
}
