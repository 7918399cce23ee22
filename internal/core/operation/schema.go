package operation

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/teamtime"
)

// ComponentsRef is the prefix of references to components of the OpenAPI document. MomentRef is the reference to the
// component Moment.
const (
	ComponentsRef = "#/components/schemas/"
	MomentRef     = ComponentsRef + "Moment"
)

// MomentSchema returns the schema of the component Moment.
func MomentSchema() *jsonschema.Schema {
	s := inferSchema(reflect.TypeFor[teamtime.Moment](), nil)
	for _, p := range s.Properties {
		p.Format = "date-time"
	}
	s.Description = "An instant, in the team's time zone and in UTC. Both strings are valid as arguments."
	return s
}

// SchemaFor returns the schema of a type that is part of responses.
func SchemaFor[T any]() *jsonschema.Schema { return inferSchema(reflect.TypeFor[T](), components()) }

// components returns references for the types that all operations share as components.
func components() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[teamtime.Moment](): {Ref: MomentRef}}
}

func inputSchema(t reflect.Type) *jsonschema.Schema {
	s := inferSchema(t, map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[NullableString](): {Type: "string"}})
	// An argument with a default is optional.
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return s.Properties[name].Default != nil })
	return s
}

// inferSchema returns the schema of a Go type. It supports the struct tags min, max, minLength, maxLength, minItems,
// maxItems, enum (a|b), title (the name of an enum in clients), pattern, format, nullable and default. For a list,
// minItems, maxItems and default apply to the list itself, and all other tags apply to its items.
func inferSchema(t reflect.Type, schemas map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", t, err))
	}
	refine(t, s)
	return s
}

// refine recursively removes null from a schema and applies struct tags.
func refine(t reflect.Type, s *jsonschema.Schema) {
	removeNull(s)
	switch t.Kind() {
	case reflect.Pointer:
		refine(t.Elem(), s)
	case reflect.Slice:
		if s.Items != nil {
			refine(t.Elem(), s.Items)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := s.Properties[name]; p != nil && !f.Anonymous {
				refine(f.Type, p)
				applyTags(f.Tag, p)
			}
		}
		describe(t, s)
	}
}

// describer is a struct whose fields have descriptions that are too long for a struct tag.
type describer interface {
	Descriptions() map[string]string // descriptions by JSON name
}

// describe adds the descriptions from a struct, and from the structs that it embeds, to a schema.
func describe(t reflect.Type, s *jsonschema.Schema) {
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			describe(f.Type, s)
		}
	}
	d, ok := reflect.TypeAssert[describer](reflect.Zero(t))
	if !ok || s.Ref != "" {
		return
	}
	for name, text := range d.Descriptions() {
		if s.Properties[name] == nil {
			panic(fmt.Sprintf("description of %s.%s, which is not in the schema", t, name))
		}
		s.Properties[name].Description = text
	}
}

// removeNull removes null from the schema of a pointer or slice, because responses omit such members instead of setting
// them to null.
func removeNull(s *jsonschema.Schema) {
	s.Types = slices.DeleteFunc(s.Types, func(name string) bool { return name == null })
	switch len(s.Types) {
	case 0:
		s.Types = nil
	case 1:
		s.Type, s.Types = s.Types[0], nil
	}
}

func applyTags(tag reflect.StructTag, s *jsonschema.Schema) {
	s.MinItems, s.MaxItems = tagInt(tag, "minItems", s.MinItems), tagInt(tag, "maxItems", s.MaxItems)
	if text, ok := tag.Lookup("default"); ok {
		if s.Type == "string" {
			text = strconv.Quote(text)
		}
		s.Default = json.RawMessage(text)
	}
	if s.Type == "array" {
		s = s.Items
	}
	s.MinLength, s.MaxLength = tagInt(tag, "minLength", s.MinLength), tagInt(tag, "maxLength", s.MaxLength)
	s.Minimum, s.Maximum = tagFloat(tag, "min", s.Minimum), tagFloat(tag, "max", s.Maximum)
	if text, ok := tag.Lookup("pattern"); ok {
		s.Pattern = text
	}
	if text, ok := tag.Lookup("format"); ok {
		s.Format = text
	}
	if _, ok := tag.Lookup("nullable"); ok {
		s.Types, s.Type = []string{s.Type, null}, ""
	}
	if text, ok := tag.Lookup("title"); ok {
		s.Title = text
	}
	if text, ok := tag.Lookup("enum"); ok {
		for value := range strings.SplitSeq(text, "|") {
			s.Enum = append(s.Enum, enumValue(value, s.Type))
		}
	}
}

func enumValue(text, kind string) any {
	if kind != "integer" {
		return text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("tag enum: %v", err))
	}
	return n
}

func tagInt(tag reflect.StructTag, name string, fallback *int) *int {
	text, ok := tag.Lookup(name)
	if !ok {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("tag %s: %v", name, err))
	}
	return &n
}

func tagFloat(tag reflect.StructTag, name string, fallback *float64) *float64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return fallback
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("tag %s: %v", name, err))
	}
	return &n
}

// patterns holds the compiled patterns of a schema and its subschemas.
type patterns map[*jsonschema.Schema]*regexp.Regexp

func compilePatterns(s *jsonschema.Schema) patterns {
	out := patterns{}
	out.add(s)
	return out
}

func (p patterns) add(s *jsonschema.Schema) {
	if s.Pattern != "" {
		p[s] = regexp.MustCompile(s.Pattern)
	}
	if s.Items != nil {
		p.add(s.Items)
	}
	for _, member := range s.Properties {
		p.add(member)
	}
}
