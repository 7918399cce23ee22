package clientgen

import (
	"slices"

	"pressroom.example/pressroom/internal/api/openapi"
)

// emptyIsDistinct lists optional strings in objects whose empty value differs from an absent one.
var emptyIsDistinct = map[string]bool{
	"PostAccount.caption": true, "PostAccount.title": true,
	"CreatePostInputOverride.caption": true, "CreatePostInputOverride.title": true,
}

var goBasic = map[string]string{
	"string": "string", "integer": "int64", "number": "float64", "boolean": "bool", "any": "json.RawMessage",
	"string_map": "map[string]string",
}

func goBase(s shape) string {
	if s.Named {
		return s.Base
	}
	return goBasic[s.Base]
}

// goType returns the Go type of a field. The type is a pointer if the field can be null, or if its zero value must be
// distinguished from an absent value.
func goType(r *record, f field) string {
	base := goBase(f.Shape)
	switch {
	case f.Shape.List:
		return "[]" + base
	case f.Nullable():
		return "*" + base
	case f.Required, f.Shape.Base == "any", f.Shape.Base == "string_map":
		return base
	case r.Input && f.zeroIsAbsent():
		return base
	case !r.Input && (f.Shape.Base == "string" || f.Shape.Enum) && !emptyIsDistinct[r.Name+"."+f.Wire]:
		return base
	}
	return "*" + base
}

// Nullable reports whether the field can be null.
func (f field) Nullable() bool { return f.schema.Nullable }

// Clears reports whether r is an input with arguments that null clears.
func (r *record) Clears() bool { return r.Input && slices.ContainsFunc(r.Fields, field.Nullable) }

// zeroIsAbsent reports whether the API treats the zero value of an argument as if the argument were omitted.
func (f field) zeroIsAbsent() bool {
	switch f.Shape.Base {
	case "string":
		return f.schema.MinLength > 0 || f.query || f.schema.Pattern != ""
	case "integer":
		return f.schema.Minimum != nil && *f.schema.Minimum >= 0 &&
			(*f.schema.Minimum > 0 || string(f.schema.Default) == "0")
	case "boolean":
		return string(f.schema.Default) != "true"
	}
	return f.Shape.Enum
}

func goField(r *record, f field) string {
	tag := f.Wire
	if !f.Required {
		tag += ",omitzero"
	}
	return openapi.GoName(f.Wire) + " " + goType(r, f) + " `json:\"" + tag + "\"`"
}

// goConstant returns the name of the Go constant for an enum value.
func goConstant(owner, value string) string { return owner + openapi.GoName(value) }

// goComment returns text as a comment, or an empty string if text is empty.
func goComment(prefix, text string) string {
	if text == "" {
		return ""
	}
	return wrap(prefix+"// ", text)
}
