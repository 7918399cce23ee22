package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// document is the part of the OpenAPI document that the reference uses.
type document struct {
	Info struct {
		Description string `json:"description"`
		Version     string `json:"version"`
	} `json:"info"`
	Servers []struct {
		URL string `json:"url"`
	} `json:"servers"`
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      members[members[operation]] `json:"paths"`
	Components struct {
		Schemas members[schema] `json:"schemas"`
	} `json:"components"`
}

// operation is one method of a path.
type operation struct {
	Tool        string   `json:"x-tool"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Capability  string   `json:"x-capability"`
	Additional  *struct {
		Capability string `json:"capability"`
		When       string `json:"when"`
	} `json:"x-additional-capability"`
	Price *struct {
		Credits *int64 `json:"credits"`
		Min     int64  `json:"min"`
		Max     int64  `json:"max"`
	} `json:"x-price"`
	Recurring *struct {
		Credits int64  `json:"credits"`
		Repeats string `json:"repeats"`
		Stops   string `json:"stops"`
	} `json:"x-recurring-price"`
	Parameters []parameter `json:"parameters"`
	Body       *struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses members[response] `json:"responses"`
}

type parameter struct {
	Name        string          `json:"name"`
	In          string          `json:"in"`
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Schema      schema          `json:"schema"`
	Example     json.RawMessage `json:"example"`
}

type response struct {
	Description string           `json:"description"`
	Content     map[string]media `json:"content"`
}

type media struct {
	Schema  schema          `json:"schema"`
	Example json.RawMessage `json:"example"`
}

// schema is the part of JSON Schema that the document uses.
type schema struct {
	Ref         string          `json:"$ref"`
	Type        kinds           `json:"type"`
	Description string          `json:"description"`
	Properties  members[schema] `json:"properties"`
	Items       *schema         `json:"items"`
	Required    []string        `json:"required"`
	Enum        []any           `json:"enum"`
	Default     json.RawMessage `json:"default"`
	Format      string          `json:"format"`
	Minimum     *float64        `json:"minimum"`
	Maximum     *float64        `json:"maximum"`
	MinLength   *int            `json:"minLength"`
	MaxLength   *int            `json:"maxLength"`
	MinItems    *int            `json:"minItems"`
	MaxItems    *int            `json:"maxItems"`
}

// component returns the name of the referenced component, or "".
func (s schema) component() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// kinds holds the types of a schema. In JSON, they are a string or a list of strings.
type kinds []string

func (k *kinds) UnmarshalJSON(raw []byte) error {
	var name string
	if json.Unmarshal(raw, &name) == nil {
		*k = kinds{name}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(k)) //nolint:wrapcheck // wrapped by the caller
}

// members holds the members of a JSON object in their original order.
type members[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

func (m *members[T]) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return errors.Join(errors.New("not a JSON object"), err)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return fmt.Errorf("reading a member's name: %w", err)
		}
		next := member[T]{Name: fmt.Sprint(name)}
		if err := dec.Decode(&next.Value); err != nil {
			return fmt.Errorf("reading the member %s: %w", next.Name, err)
		}
		*m = append(*m, next)
	}
	return nil
}

// get returns the value of the member with the given name, and reports whether it exists.
func (m members[T]) get(name string) (T, bool) {
	for _, one := range m {
		if one.Name == name {
			return one.Value, true
		}
	}
	var zero T
	return zero, false
}

// parseDocument parses the document.
func parseDocument(raw []byte) (document, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return doc, fmt.Errorf("parsing the OpenAPI document: %w", err)
	}
	doc.inlineEnums()
	if len(doc.Servers) == 0 {
		return doc, errors.New("the OpenAPI document has no server")
	}
	return doc, nil
}

// inlineEnums replaces references to enumerations with the enumerations themselves, so that the pages show the values
// where they are used.
func (d *document) inlineEnums() {
	for i := range d.Components.Schemas {
		d.inline(&d.Components.Schemas[i].Value)
	}
	for _, path := range d.Paths {
		for _, op := range path.Value {
			for i := range op.Value.Parameters {
				d.inline(&op.Value.Parameters[i].Schema)
			}
		}
	}
}

func (d *document) inline(s *schema) {
	if named, _ := d.Components.Schemas.get(s.component()); len(named.Enum) > 0 {
		s.Ref, s.Type, s.Enum = "", named.Type, named.Enum
	}
	if s.Items != nil {
		d.inline(s.Items)
	}
	for i := range s.Properties {
		d.inline(&s.Properties[i].Value)
	}
}

// schemaOf returns the schema of a body. If the schema is a reference, it returns the referenced schema.
func (d *document) schemaOf(m media) schema {
	if named, ok := d.Components.Schemas.get(m.Schema.component()); ok {
		return named
	}
	return m.Schema
}
