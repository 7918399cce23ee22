package operation

import (
	"maps"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// outputSchemas returns the schema of an output and the schemas of the structs in it, by Go type name. The schemas
// refer to each other as components of the OpenAPI document.
func outputSchemas(output reflect.Type) (*jsonschema.Schema, map[string]*jsonschema.Schema) {
	schemas := components()
	structs := map[reflect.Type]bool{}
	for _, field := range fieldTypes(output) {
		collectStructs(field, structs, schemas)
	}
	for t := range structs {
		schemas[t] = &jsonschema.Schema{Ref: ComponentsRef + t.Name()}
	}
	parts := map[string]*jsonschema.Schema{}
	for t := range structs {
		parts[t.Name()] = inferSchema(t, withoutType(schemas, t))
	}
	return inferSchema(output, withoutType(schemas, output)), parts
}

// collectStructs adds the structs in a type to structs, except for types that already have a schema.
func collectStructs(t reflect.Type, structs map[reflect.Type]bool, schemas map[reflect.Type]*jsonschema.Schema) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || structs[t] || schemas[t] != nil {
		return
	}
	structs[t] = true
	for _, field := range fieldTypes(t) {
		collectStructs(field, structs, schemas)
	}
}

// fieldTypes returns the types of a struct's fields, including those of embedded structs.
func fieldTypes(t reflect.Type) []reflect.Type {
	var out []reflect.Type
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			out = append(out, f.Type)
		}
	}
	return out
}

// withoutType returns schemas without t and the types that t embeds, so that t's schema is not a reference to itself.
func withoutType(schemas map[reflect.Type]*jsonschema.Schema, t reflect.Type) map[reflect.Type]*jsonschema.Schema {
	out := maps.Clone(schemas)
	delete(out, t)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			delete(out, f.Type)
		}
	}
	return out
}
