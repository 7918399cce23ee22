package operation

import (
	"maps"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// outputSchemas returns the schema of an output and those of the structs within it by name. They refer to each other
// as components of the description, which bear the names of their Go types.
func outputSchemas(output reflect.Type) (*jsonschema.Schema, map[string]*jsonschema.Schema) {
	known := components()
	within := map[reflect.Type]bool{}
	for _, below := range fieldsOf(output) {
		gather(below, within, known)
	}
	for t := range within {
		known[t] = &jsonschema.Schema{Ref: ComponentsRef + t.Name()}
	}
	parts := map[string]*jsonschema.Schema{}
	for t := range within {
		parts[t.Name()] = infer(t, except(known, t))
	}
	return infer(output, except(known, output)), parts
}

// gather finds the structs in a type and below, but for those that are components already.
func gather(t reflect.Type, found map[reflect.Type]bool, known map[reflect.Type]*jsonschema.Schema) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || found[t] || known[t] != nil {
		return
	}
	found[t] = true
	for _, below := range fieldsOf(t) {
		gather(below, found, known)
	}
}

// fieldsOf are the types of a struct's members. Those of what is embedded are its own.
func fieldsOf(t reflect.Type) []reflect.Type {
	var out []reflect.Type
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous {
			out = append(out, f.Type)
		}
	}
	return out
}

// except are the known types without one and what is embedded in it: its schema is not a reference to itself.
func except(known map[reflect.Type]*jsonschema.Schema, t reflect.Type) map[reflect.Type]*jsonschema.Schema {
	out := maps.Clone(known)
	delete(out, t)
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			delete(out, f.Type)
		}
	}
	return out
}
