package operation

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// NullableString is a string argument that may also be null, which clears what it sets. Its field is tagged nullable.
type NullableString struct {
	Given bool    // false if the call leaves it out
	Value *string // nil for null
}

// UnmarshalJSON reads a string or null.
func (n *NullableString) UnmarshalJSON(raw []byte) error {
	n.Given = true
	return json.Unmarshal(raw, &n.Value) //nolint:wrapcheck // package json wraps it
}

// typeOf returns the type of a schema, ignoring null.
func typeOf(s *jsonschema.Schema) string {
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
