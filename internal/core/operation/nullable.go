package operation

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// NullableString is a string argument that may also be null. Null clears the value. The field must have the struct tag
// nullable.
type NullableString struct {
	Given bool    // false if the call omits the argument
	Value *string // nil if the argument is null
}

// UnmarshalJSON decodes a string or null.
func (n *NullableString) UnmarshalJSON(raw []byte) error {
	n.Given = true
	return json.Unmarshal(raw, &n.Value) //nolint:wrapcheck // package json wraps it
}

// schemaType returns the type of a schema, ignoring null.
func schemaType(s *jsonschema.Schema) string {
	for _, name := range s.Types {
		if name != null {
			return name
		}
	}
	return s.Type
}

const null = "null"

// isNullable reports whether a schema allows null.
func isNullable(s *jsonschema.Schema) bool { return slices.Contains(s.Types, null) }
