package operation

import (
	"maps"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// ComponentName names the component of a type. The package's name is in it, so that a later type of another package
// changes no name that clients were generated with.
func ComponentName(t reflect.Type) string {
	var name strings.Builder
	for part := range strings.SplitSeq(strings.TrimLeft(t.String(), "*[]"), ".") {
		name.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return name.String()
}

// parted makes the schema of an output that refers to the structs within it, and those of the structs, which refer to
// each other, by the names of their components.
func parted(output reflect.Type) (*jsonschema.Schema, map[string]*jsonschema.Schema) {
	known := components()
	within := map[reflect.Type]bool{}
	for _, below := range fieldsOf(output) {
		gather(below, within, known)
	}
	for t := range within {
		known[t] = &jsonschema.Schema{Ref: ComponentsRef + ComponentName(t)}
	}
	parts := map[string]*jsonschema.Schema{}
	for t := range within {
		parts[ComponentName(t)] = infer(t, except(known, t))
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
