package operation

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// NullableString is a string argument that may also be null, which clears the value. Its field must have the tag
// nullable.
type NullableString struct {
	Given bool    // false if the call omits it
	Value *string // nil for null
}

// UnmarshalJSON reads a string or null.
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

// nullable reports whether a schema allows null.
func nullable(s *jsonschema.Schema) bool { return slices.Contains(s.Types, null) }
