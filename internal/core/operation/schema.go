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

	"pressroom/internal/teamtime"
)

// ComponentsRef is where the description keeps its components, and MomentRef the one for times.
const (
	ComponentsRef = "#/components/schemas/"
	MomentRef     = ComponentsRef + "Moment"
)

// MomentSchema is that component.
func MomentSchema() *jsonschema.Schema {
	s := infer(reflect.TypeFor[teamtime.Moment](), nil)
	for _, p := range s.Properties {
		p.Format = "date-time"
	}
	s.Description = "One instant, in the team's time zone and in UTC. Either string may be sent back as an argument."
	return s
}

// SchemaFor makes the schema of a part of every answer as Define makes that of an output.
func SchemaFor[T any]() *jsonschema.Schema { return infer(reflect.TypeFor[T](), components()) }

// components are the types that schemas of outputs refer to.
func components() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[teamtime.Moment](): {Ref: MomentRef}}
}

func inputSchema(t reflect.Type) *jsonschema.Schema {
	s := infer(t, map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[NullableString](): {Type: "string"}})
	// An argument with a default need not be given.
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return s.Properties[name].Default != nil })
	return s
}

// infer makes the schema of a Go type and adds what its struct tags say: min, max, minLength, maxLength,
// minItems, maxItems, enum (a|b), title (the name that clients give to an enum), pattern, format, nullable and default.
// On a list, all but minItems and maxItems apply to its items.
func infer(t reflect.Type, known map[reflect.Type]*jsonschema.Schema) *jsonschema.Schema {
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic(fmt.Sprintf("schema of %s: %v", t, err))
	}
	dress(t, s)
	return s
}

func dress(t reflect.Type, s *jsonschema.Schema) {
	withoutNull(s)
	switch t.Kind() {
	case reflect.Pointer:
		dress(t.Elem(), s)
	case reflect.Slice:
		if s.Items != nil {
			dress(t.Elem(), s.Items)
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if p := s.Properties[name]; p != nil && !f.Anonymous {
				dress(f.Type, p)
				applyTags(f.Tag, p)
			}
		}
	}
}

// withoutNull takes away the null that Go's nil would allow: our answers leave such members out.
func withoutNull(s *jsonschema.Schema) {
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

func tagInt(tag reflect.StructTag, name string, otherwise *int) *int {
	text, ok := tag.Lookup(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("tag %s: %v", name, err))
	}
	return &n
}

func tagFloat(tag reflect.StructTag, name string, otherwise *float64) *float64 {
	text, ok := tag.Lookup(name)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("tag %s: %v", name, err))
	}
	return &n
}

// patterns are the compiled patterns of a schema and of everything in it.
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
