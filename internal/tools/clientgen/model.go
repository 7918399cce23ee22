package clientgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/api/openapi"
)

type (
	// model contains the named types and the operations of the document.
	model struct {
		Records    []*record
		Enums      []*enum
		Codes      []string
		Operations []*call
	}

	// record is an object with known properties.
	record struct {
		Name     string
		Comment  string
		Input    bool
		Fields   []field
		Variants []string // names of the variants, if the record is a union
		Variant  bool     // whether the record is one of a union's variants
	}

	field struct {
		Wire     string
		Comment  string
		Required bool
		Shape    shape
		query    bool // whether the field is in the query string
		schema   *schema
	}

	// shape is a basic type, a record, an enum, or a list of one of these.
	shape struct {
		Base  string // string, integer, number, boolean, any, string_map (an object of strings), or a name
		Named bool   // whether Base is a name
		Enum  bool
		List  bool
		Union []string // names of the records that are possible for a value of any type
	}

	enum struct {
		Name   string
		Values []string
	}

	call struct {
		Name, Method, Path   string
		Summary, Description string
		Arguments            []argument
		Input, Answer        string
		KeyLength            int
		Paid, Job            bool
		Paged                bool
		Free                 bool   // whether the operation can be called without arguments
		Items                *field // the list in a paged response
	}

	argument struct {
		Name, In    string
		Description string
		Required    bool
		Nullable    bool
		Type        string // string, integer, boolean, number, strings, integers or objects
		Default     string
		Enum        []string
		schema      *schema
	}
)

// handwrittenComponents lists the components for which the clients have handwritten types.
var handwrittenComponents = []string{"Moment", "Problem"}

// builder collects the types of the document.
type builder struct {
	model
	byForm    map[string]string // names of records by the result of form for their schemas
	byValues  map[string]string // names of enums by their values
	usedNames map[string]bool
	variants  map[string]bool // names of the variants of unions
}

func build(d *document) (*model, error) {
	b := &builder{byForm: map[string]string{}, byValues: map[string]string{}, usedNames: map[string]bool{},
		variants: map[string]bool{}}
	components := slices.DeleteFunc(slices.Clone(d.Components.Schemas), func(c member[*schema]) bool {
		return isPartOfOperation(c.Name) || len(c.Value.Enum) > 0
	})
	slices.SortFunc(components, func(x, y member[*schema]) int { return cmp.Compare(x.Name, y.Name) })
	for _, c := range components {
		b.byForm[form(c.Value)] = c.Name
		for _, name := range c.Value.Variants {
			b.variants[name] = true
		}
	}
	for _, c := range components {
		if c.Name == "Problem" {
			code, _ := c.Value.Properties.get("code")
			b.Codes = code.Enum
		}
		if !slices.Contains(handwrittenComponents, c.Name) {
			b.record(c.Name, c.Value, false)
		}
	}
	for _, p := range d.Paths {
		for method, o := range p.Value {
			if err := b.operation(strings.ToUpper(method), p.Name, o); err != nil {
				return nil, err
			}
		}
	}
	b.describeRecords()
	slices.SortFunc(b.Operations, func(x, y *call) int { return cmp.Compare(x.Name, y.Name) })
	slices.SortFunc(b.Records, func(x, y *record) int { return cmp.Compare(x.Name, y.Name) })
	slices.SortFunc(b.Enums, func(x, y *enum) int { return cmp.Compare(x.Name, y.Name) })
	return &b.model, nil
}

// uniqueName returns derived, followed by a number if that name is already used. It marks the result as used.
func (b *builder) uniqueName(derived string) string {
	name := derived
	for n := 2; b.usedNames[name]; n++ {
		name = fmt.Sprintf("%s%d", derived, n)
	}
	b.usedNames[name] = true
	return name
}

func (b *builder) record(name string, s *schema, input bool) *record {
	b.usedNames[name] = true
	r := &record{Name: name, Comment: s.Description, Input: input, Variants: s.Variants, Variant: b.variants[name]}
	for _, p := range s.Properties {
		r.Fields = append(r.Fields, field{
			Wire: p.Name, Comment: p.Value.Description, Required: slices.Contains(s.Required, p.Name),
			Shape: b.shape(name, p.Name, p.Value), schema: p.Value,
		})
	}
	b.Records = append(b.Records, r)
	return r
}

func (b *builder) shape(owner, wire string, s *schema) shape {
	switch {
	case s.Ref != "":
		return shape{Base: component(s.Ref), Named: true}
	case s.Type == "array":
		element := b.shape(owner, openapi.Singular(wire), s.Items)
		element.List = true
		return element
	case s.Type == "object" && len(s.Properties) > 0:
		return shape{Base: b.inline(owner+openapi.GoName(wire), s), Named: true}
	case s.Type == "object":
		return shape{Base: "string_map"}
	case len(s.Enum) > 1 && s.Type == "string":
		return shape{Base: b.enum(s), Named: true, Enum: true}
	case s.Type == "":
		var union []string
		for _, one := range s.OneOf {
			union = append(union, component(one.Ref))
		}
		return shape{Base: "any", Union: union}
	}
	return shape{Base: string(s.Type)}
}

// inline returns the type name for an anonymous object. Objects with equal schemas share a type.
func (b *builder) inline(derived string, s *schema) string {
	if known, ok := b.byForm[form(s)]; ok {
		return known
	}
	name := b.uniqueName(derived)
	b.byForm[form(s)] = name
	b.record(name, s, false)
	return name
}

// form returns a key that is the same for all schemas of the same type, regardless of their descriptions.
func form(s *schema) string {
	raw, err := json.Marshal([]any{s.Properties, s.Required})
	if err != nil {
		panic(err) // cannot fail, because the schema was parsed from JSON
	}
	return string(raw)
}

// enum returns the name of an enumeration.
func (b *builder) enum(s *schema) string {
	key := strings.Join(s.Enum, "|")
	if known, ok := b.byValues[key]; ok {
		return known
	}
	b.byValues[key] = s.Title
	b.Enums = append(b.Enums, &enum{Name: s.Title, Values: s.Enum})
	return s.Title
}

func (b *builder) operation(method, path string, o operation) error {
	status, envelope, err := o.response()
	if err != nil {
		return err
	}
	length, err := o.keyLength()
	if err != nil {
		return err
	}
	data, _ := envelope.Properties.get("data")
	c := &call{
		Name: o.ID, Method: method, Path: path, Summary: o.Summary, Description: o.Description,
		Answer:    component(data.Ref),
		KeyLength: length, Paid: o.Price != nil, Job: status == "202", Arguments: o.arguments(),
	}
	c.Paged = slices.ContainsFunc(c.Arguments, func(a argument) bool { return a.In == "query" && a.Name == "cursor" })
	b.input(c)
	if c.Paged {
		c.Items = b.items(c.Answer)
	}
	for i := range c.Arguments {
		c.Arguments[i].describe()
	}
	b.Operations = append(b.Operations, c)
	return nil
}

// input adds the record of an operation's arguments, if it has any.
func (b *builder) input(c *call) {
	if len(c.Arguments) == 0 {
		return
	}
	s := &schema{}
	for _, a := range c.Arguments {
		described := *a.schema
		described.Description = a.Description
		s.Properties = append(s.Properties, member[*schema]{a.Name, &described})
		if a.Required {
			s.Required = append(s.Required, a.Name)
		}
	}
	c.Input = openapi.GoName(c.Name) + "Input"
	r := b.record(c.Input, s, true)
	r.Comment = "Arguments of " + c.Name + "."
	c.Free = len(s.Required) == 0
	for i := range r.Fields {
		r.Fields[i].query = c.Arguments[i].In == "query"
	}
}

// describeRecords sets the comments of records that have none. A record that only one field uses gets the description
// of that field.
func (b *builder) describeRecords() {
	uses, comments := map[string]int{}, map[string]string{}
	for _, c := range b.Operations {
		uses[c.Answer]++
	}
	for _, r := range b.Records {
		for _, f := range r.Fields {
			uses[f.Shape.Base]++
			if !f.Shape.List {
				comments[f.Shape.Base] = f.Comment
			}
		}
	}
	for _, r := range b.Records {
		if r.Comment == "" && uses[r.Name] == 1 {
			r.Comment = comments[r.Name]
		}
	}
}

// items returns the list in a paged response, or nil if the response is not a list.
func (b *builder) items(answer string) *field {
	for _, r := range b.Records {
		if r.Name != answer || !strings.HasSuffix(answer, "List") && !strings.HasSuffix(answer, "Lists") {
			continue
		}
		for i, f := range r.Fields {
			if f.Shape.List {
				return &r.Fields[i] // the type is named after its first list
			}
		}
	}
	return nil
}

func (a *argument) describe() {
	a.Enum, a.Type, a.Nullable = a.schema.Enum, string(a.schema.Type), a.schema.Nullable
	if a.schema.Type == "array" {
		a.Type = string(a.schema.Items.Type) + "s"
	}
	if string(a.schema.Default) != "[]" {
		a.Default = strings.Trim(string(a.schema.Default), `"`)
	}
}
