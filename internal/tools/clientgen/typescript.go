package clientgen

import (
	"strconv"
	"strings"
)

var tsBasic = map[string]string{
	"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "any": "unknown",
	"string_map": "Record<string, string>",
}

// tsType returns a field's TypeScript type. Lists in inputs are readonly arrays, so that callers can pass either kind.
func tsType(r *record, f field) string {
	base := unionType(f, tsBasic, literals)
	if f.Shape.List && r.Input {
		base = "readonly " + base + "[]"
	} else if f.Shape.List {
		base += "[]"
	}
	if f.Nullable() {
		base += " | null"
	}
	return base
}

// unionType returns the type of a field, or of its items, in a language that has union types and literal types.
func unionType(f field, basic map[string]string, literals func(values []string) string) string {
	name, ok := basic[f.Shape.Base]
	switch {
	case f.Shape.Union != nil:
		return strings.Join(f.Shape.Union, " | ")
	case len(f.schema.Enum) == 1:
		return literals(f.schema.Enum)
	case f.Shape.Named || !ok:
		return f.Shape.Base
	}
	return name
}

func tsOptional(f field) string {
	if f.Required {
		return ""
	}
	return "?"
}

// literals returns an enum's values as a union of literal types.
func literals(values []string) string {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return strings.Join(quoted, " | ")
}

// jsdoc returns text as a JSDoc comment, or an empty string if text is empty.
func jsdoc(indent, text string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(text, "*/", "* /")
	lines := strings.Split(strings.TrimSuffix(wrap(indent+" * ", text), "\n"), "\n")
	if len(lines) == 1 {
		return indent + "/** " + strings.TrimPrefix(lines[0], indent+" * ") + " */\n"
	}
	return indent + "/**\n" + strings.Join(lines, "\n") + "\n" + indent + " */\n"
}
