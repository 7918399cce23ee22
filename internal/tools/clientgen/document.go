package clientgen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/api/openapi"
)

type (
	// document is the part of the OpenAPI document that the clients need.
	document struct {
		Paths      ordered[map[string]operation] `json:"paths"`
		Components struct {
			Schemas ordered[*schema] `json:"schemas"`
		} `json:"components"`
	}

	operation struct {
		ID          string              `json:"operationId"`
		Summary     string              `json:"summary"`
		Description string              `json:"description"`
		Price       json.RawMessage     `json:"x-price"`
		Parameters  []parameter         `json:"parameters"`
		RequestBody *contents           `json:"requestBody"`
		Responses   map[string]contents `json:"responses"`
	}

	parameter struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Description string  `json:"description"`
		Required    bool    `json:"required"`
		Schema      *schema `json:"schema"`

		Example json.RawMessage `json:"example"`
	}

	contents struct {
		Content map[string]content `json:"content"`
	}

	content struct {
		Schema  *schema         `json:"schema"`
		Example json.RawMessage `json:"example"`
	}

	schema struct {
		Ref           string           `json:"$ref"`
		Type          kind             `json:"type"`
		Nullable      bool             `json:"-"`
		Title         string           `json:"-"` // name of the component, if this is an enumeration
		Description   string           `json:"description"`
		Properties    ordered[*schema] `json:"properties"`
		Required      []string         `json:"required"`
		Items         *schema          `json:"items"`
		OneOf         []*schema        `json:"oneOf"`
		AllOf         []*schema        `json:"allOf"` // the envelope, which the clients handle, or an enumeration with one value
		Variants      []string         `json:"-"`     // names of the components of a union with a discriminator
		Discriminator struct {
			Member string `json:"propertyName"`
		} `json:"discriminator"`
		Enum       values          `json:"enum"`
		Default    json.RawMessage `json:"default"`
		Minimum    *float64        `json:"minimum"`
		MinLength  int             `json:"minLength"`
		Pattern    string          `json:"pattern"`
		Additional compact         `json:"additionalProperties"`
	}
)

// compact is JSON without white space.
type compact string

func (c *compact) UnmarshalJSON(raw []byte) error {
	var out bytes.Buffer
	err := json.Compact(&out, raw)
	*c = compact(out.String())
	return err //nolint:wrapcheck // raw is valid JSON
}

// kind is a JSON Schema type, such as string or string|null.
type kind string

func (k *kind) UnmarshalJSON(raw []byte) error {
	var types []string
	if json.Unmarshal(raw, &types) != nil {
		types = []string{strings.Trim(string(raw), `"`)}
	}
	*k = kind(strings.Join(types, "|"))
	return nil
}

// keywords contains the JSON Schema keywords that the generator uses or can ignore.
var keywords = parseNames(
	`$ref additionalProperties allOf default description discriminator enum example format items maxItems maxLength maximum minItems
	minLength minimum oneOf pattern properties required type`)

var kinds = parseNames("string integer number boolean array object")

func parseNames(list string) map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		set[name] = true
	}
	return set
}

// UnmarshalJSON parses a schema. It returns an error for unsupported keywords and types.
func (s *schema) UnmarshalJSON(raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("reading a schema: %w", err)
	}
	for keyword := range members {
		if !keywords[keyword] && !strings.HasPrefix(keyword, "x-") {
			return fmt.Errorf("the client generator does not support the keyword %s", keyword)
		}
	}
	type plain schema // without this method
	if err := json.Unmarshal(raw, (*plain)(s)); err != nil {
		return fmt.Errorf("reading a schema: %w", err)
	}
	if base, null := strings.CutSuffix(string(s.Type), "|null"); null {
		s.Type, s.Nullable = kind(base), true
	}
	if s.Type != "" && !kinds[string(s.Type)] {
		return fmt.Errorf("the client generator does not support the type %s", s.Type)
	}
	return s.checkComposition()
}

// checkComposition returns an error for unsupported unions, intersections and objects.
func (s *schema) checkComposition() error {
	if slices.ContainsFunc(s.OneOf, func(one *schema) bool { return one.Ref == "" }) {
		return errors.New("the client generator supports only unions of components")
	}
	other := func(one *schema) bool { return component(one.Ref) != openapi.EnvelopeComponent }
	if len(s.Enum) != 1 && slices.ContainsFunc(s.AllOf, other) {
		return errors.New("the client generator supports allOf only with the envelope or with one value of an enumeration")
	}
	if s.Type == "object" && len(s.Properties) == 0 && s.Additional != `{"type":"string"}` && s.Additional != "false" {
		return fmt.Errorf("the client generator supports only objects with string values, but additionalProperties is %s", s.Additional)
	}
	return nil
}

// values contains the strings or integers of an enum.
type values []string

func (v *values) UnmarshalJSON(raw []byte) error {
	var elements []any
	if err := json.Unmarshal(raw, &elements); err != nil {
		return fmt.Errorf("reading an enum: %w", err)
	}
	for _, one := range elements {
		*v = append(*v, fmt.Sprint(one))
	}
	return nil
}

// ordered is a JSON object whose members keep their order.
type ordered[T any] []member[T]

type member[T any] struct {
	Name  string
	Value T
}

func (o *ordered[T]) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New("not an object"), err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("reading a name: %w", err)
		}
		m := member[T]{Name: fmt.Sprint(name)}
		if err := d.Decode(&m.Value); err != nil {
			return fmt.Errorf("reading %s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

func (o ordered[T]) get(name string) (T, bool) {
	for _, m := range o {
		if m.Name == name {
			return m.Value, true
		}
	}
	var zero T
	return zero, false
}

func parse(description []byte) (*document, error) {
	var d document
	if err := json.Unmarshal(description, &d); err != nil {
		return nil, fmt.Errorf("reading the description: %w", err)
	}
	for _, c := range d.Components.Schemas {
		if c.Value.Discriminator.Member != "" {
			d.addSharedMembers(c.Name, c.Value)
		}
	}
	for _, c := range d.Components.Schemas {
		if err := d.resolve(c.Value); err != nil {
			return nil, err
		}
	}
	for _, p := range d.Paths {
		for _, o := range p.Value {
			if err := d.resolveOperation(o); err != nil {
				return nil, err
			}
		}
	}
	return &d, nil
}

// addSharedMembers adds the members that a union's variants share to the union. In the union, the discriminator allows
// all of its values. A member whose schema differs between variants allows any value.
func (d *document) addSharedMembers(name string, union *schema) {
	for _, one := range union.OneOf {
		union.Variants = append(union.Variants, component(one.Ref))
	}
	first, _ := d.component(union.Variants[0])
	union.Type, union.Required = first.Type, first.Required
	for i, p := range first.Properties {
		switch shared := *p.Value; {
		case p.Name == union.Discriminator.Member:
			shared = schema{Ref: ref + name + openapi.DiscriminatorSuffix, Description: shared.Description}
			p.Value = &shared
		case slices.ContainsFunc(union.Variants, func(other string) bool {
			variant, _ := d.component(other)
			return variant.Properties[i].Value.Ref != p.Value.Ref
		}):
			p.Value = &schema{Description: "Its type depends on " + union.Discriminator.Member + "."}
		}
		union.Properties = append(union.Properties, p)
	}
}

// resolveOperation replaces references to requests, envelopes and enumerations with their schemas.
func (d *document) resolveOperation(o operation) error {
	bodies := []contents{}
	if o.RequestBody != nil {
		bodies = append(bodies, *o.RequestBody)
	}
	for _, r := range o.Responses {
		bodies = append(bodies, r)
	}
	for _, b := range bodies {
		for _, c := range b.Content {
			if name := component(c.Schema.Ref); isPartOfOperation(name) {
				*c.Schema, _ = d.component(name)
			}
		}
	}
	for _, p := range o.Parameters {
		if err := d.resolve(p.Schema); err != nil {
			return err
		}
	}
	return nil
}

// isPartOfOperation reports whether a component is the request or the envelope of operations.
func isPartOfOperation(name string) bool {
	return name == openapi.EnvelopeComponent || strings.HasSuffix(name, openapi.RequestSuffix)
}

// resolve replaces references to enumerations in a schema with the enumerations. It sets the title of an enumeration to
// the name of its component.
func (d *document) resolve(s *schema) error {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		name := component(s.Ref)
		target, ok := d.component(name)
		if !ok {
			return fmt.Errorf("unknown component %s", name)
		}
		if len(target.Enum) > 0 {
			s.Ref, s.Title, s.Type, s.Enum = "", name, target.Type, target.Enum
		}
	}
	for _, p := range s.Properties {
		if err := d.resolve(p.Value); err != nil {
			return err
		}
	}
	for _, variant := range s.OneOf {
		if err := d.resolve(variant); err != nil {
			return err
		}
	}
	return d.resolve(s.Items)
}

func (d *document) component(name string) (schema, bool) {
	s, ok := d.Components.Schemas.get(name)
	if !ok {
		return schema{}, false
	}
	return *s, true
}

// ref is the prefix of references to components.
const ref = "#/components/schemas/"

// component returns the name of the component that a reference points to.
func component(reference string) string { return strings.TrimPrefix(reference, ref) }

// arguments returns the arguments in the path, the query and the body of an operation.
func (o operation) arguments() []argument {
	var args []argument
	for _, p := range o.Parameters {
		if p.In == "path" || p.In == "query" {
			args = append(args,
				argument{Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, schema: p.Schema})
		}
	}
	if o.RequestBody == nil {
		return args
	}
	body := o.RequestBody.Content["application/json"].Schema
	for _, p := range body.Properties {
		args = append(args, argument{
			Name: p.Name, In: "body", Description: p.Value.Description,
			Required: slices.Contains(body.Required, p.Name), schema: p.Value,
		})
	}
	return args
}

// keyLength returns the maximum length of an Idempotency-Key. It returns 0 if the operation does not accept a key.
func (o operation) keyLength() (int, error) {
	for _, p := range o.Parameters {
		if p.In != "header" {
			continue
		}
		if p.Name != "Idempotency-Key" {
			return 0, fmt.Errorf("%s has the header field %s, which the clients do not support", o.ID, p.Name)
		}
		return 128, nil // the limit for free operations; paid operations allow more
	}
	return 0, nil
}

// response returns the status and the schema of an operation's successful response.
func (o operation) response() (string, *schema, error) {
	for status, r := range o.Responses {
		if strings.HasPrefix(status, "2") {
			return status, r.Content["application/json"].Schema, nil
		}
	}
	return "", nil, fmt.Errorf("%s has no successful response", o.ID)
}
