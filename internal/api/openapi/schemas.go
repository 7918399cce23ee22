package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// RequestSuffix is the name suffix of components that describe request bodies.
const RequestSuffix = "Request"

// schemaNamer gives each enumeration in a document a name, so that generated clients have one type for each.
type schemaNamer struct {
	schemas map[string]*jsonschema.Schema // the document's components
	names   map[string]string             // names of enumerations, by their values
}

// nameSchemas replaces each enumeration of strings with a reference to a component and sets the format of integers.
func nameSchemas(schemas map[string]*jsonschema.Schema, paths map[string]map[string]operationObject) error {
	n := schemaNamer{schemas: schemas, names: map[string]string{}}
	for name, s := range schemas {
		if len(s.Enum) > 1 {
			n.names[fmt.Sprint(s.Enum)] = name
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(schemas)) {
		if err := n.nameProperties(owner, schemas[owner]); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for _, method := range slices.Sorted(maps.Keys(paths[path])) {
			if err := n.nameParameters(paths[path][method]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *schemaNamer) nameParameters(op operationObject) error {
	for i, p := range op.Parameters {
		s, err := n.nameSchema(GoName(op.ID), p.Name, p.Schema)
		if err != nil {
			return err
		}
		op.Parameters[i].Schema = s
	}
	return nil
}

// nameProperties names the enumerations within an object.
func (n *schemaNamer) nameProperties(owner string, s *jsonschema.Schema) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		replacement, err := n.nameSchema(owner, name, s.Properties[name])
		if err != nil {
			return err
		}
		s.Properties[name] = replacement
	}
	return nil
}

// nameSchema returns a replacement for the schema s of a member of owner.
func (n *schemaNamer) nameSchema(owner, member string, s *jsonschema.Schema) (*jsonschema.Schema, error) {
	switch {
	case s.Type == "integer":
		s.Format = cmp.Or(s.Format, "int64")
	case s.Items != nil:
		items, err := n.nameSchema(owner, Singular(member), s.Items)
		s.Items = items
		return s, err
	case len(s.Properties) > 0:
		return s, n.nameProperties(owner+GoName(member), s)
	case len(s.Enum) == 1 && s.Title != "":
		constant := constSchema(s.Title, s.Enum[0])
		constant.Description = s.Description
		return constant, nil
	case len(s.Enum) > 1 && s.Type == "string":
		return n.enumeration(cmp.Or(s.Title, owner+GoName(member)), s)
	}
	return s, nil
}

// enumeration returns a reference to the component of an enumeration. Enumerations with the same values share a
// component.
func (n *schemaNamer) enumeration(name string, s *jsonschema.Schema) (*jsonschema.Schema, error) {
	key := fmt.Sprint(s.Enum)
	if _, ok := n.names[key]; !ok {
		if n.schemas[name] != nil {
			return nil, fmt.Errorf("the enumeration name %s is taken: set another name with the title tag", name)
		}
		n.names[key] = name
		n.schemas[name] = newEnumeration(name, s.Enum)
	}
	reference := ref(n.names[key])
	reference.Description, reference.Default = s.Description, s.Default
	return reference, nil
}

// constSchema returns the schema of a single value of an enumeration. It uses allOf, because oapi-codegen then
// generates the enumeration's type. Keywords next to $ref would not work, because kin-openapi merges them into the
// component.
func constSchema(enumeration string, value any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", AllOf: []*jsonschema.Schema{ref(enumeration)}, Enum: []any{value}}
}

// newEnumeration returns the schema of an enumeration of strings. It sets the names of the generated constants, because
// they could otherwise collide with generated types. For example, oapi-codegen would declare a constant Client for the
// role client.
func newEnumeration(name string, values []any) *jsonschema.Schema {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = name + GoName(fmt.Sprint(v))
	}
	return &jsonschema.Schema{Type: "string", Enum: values, Extra: map[string]any{"x-enum-varnames": names}}
}
