package clientgen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

type (
	// document is as much of the description as clients are made of.
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
	}

	contents struct {
		Content map[string]content `json:"content"`
	}

	content struct {
		Schema *schema `json:"schema"`
	}

	schema struct {
		Ref         string           `json:"$ref"`
		Type        kind             `json:"type"`
		Nullable    bool             `json:"-"`
		Title       string           `json:"title"`
		Description string           `json:"description"`
		Properties  ordered[*schema] `json:"properties"`
		Required    []string         `json:"required"`
		Items       *schema          `json:"items"`
		Enum        values           `json:"enum"`
		Default     json.RawMessage  `json:"default"`
		Minimum     *float64         `json:"minimum"`
		MinLength   int              `json:"minLength"`
		Pattern     string           `json:"pattern"`
		Additional  compact          `json:"additionalProperties"`
	}
)

// compact is JSON without white space.
type compact string

func (c *compact) UnmarshalJSON(raw []byte) error {
	var out bytes.Buffer
	err := json.Compact(&out, raw)
	*c = compact(out.String())
	return err //nolint:wrapcheck // it was read as JSON before
}

// kind is a type, which may be nullable: the description has null in one place, beside the type.
type kind string

func (k *kind) UnmarshalJSON(raw []byte) error {
	var several []string
	if json.Unmarshal(raw, &several) != nil {
		several = []string{strings.Trim(string(raw), `"`)}
	}
	*k = kind(strings.Join(several, "|"))
	return nil
}

// keywords are those of JSON Schema that the clients heed, or that are the service's affair alone.
var keywords = names(
	`$ref additionalProperties default description enum example format items maxItems maxLength maximum minItems minLength
	minimum pattern properties required title type`)

var kinds = names("string integer number boolean array object")

func names(list string) map[string]bool {
	known := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		known[name] = true
	}
	return known
}

// UnmarshalJSON reads a schema, and refuses what it does not know: a type that is guessed would be wrong in two
// languages.
func (s *schema) UnmarshalJSON(raw []byte) error {
	var written map[string]json.RawMessage
	if err := json.Unmarshal(raw, &written); err != nil {
		return fmt.Errorf("reading a schema: %w", err)
	}
	for keyword := range written {
		if !keywords[keyword] {
			return fmt.Errorf("the clients' generator does not know the keyword %s", keyword)
		}
	}
	type plain schema // without this method
	if err := json.Unmarshal(raw, (*plain)(s)); err != nil {
		return fmt.Errorf("reading a schema: %w", err)
	}
	if of, null := strings.CutSuffix(string(s.Type), "|null"); null {
		s.Type, s.Nullable = kind(of), true
	}
	if s.Type != "" && !kinds[string(s.Type)] {
		return fmt.Errorf("the clients' generator does not know the type %s", s.Type)
	}
	if s.Type == "object" && len(s.Properties) == 0 && s.Additional != `{"type":"string"}` && s.Additional != "false" {
		return fmt.Errorf("the clients' generator knows objects of texts alone, not of %s", s.Additional)
	}
	return nil
}

// values are an enum's, of texts or of integers.
type values []string

func (v *values) UnmarshalJSON(raw []byte) error {
	var several []any
	if err := json.Unmarshal(raw, &several); err != nil {
		return fmt.Errorf("reading an enum: %w", err)
	}
	for _, one := range several {
		*v = append(*v, fmt.Sprint(one))
	}
	return nil
}

// ordered is a JSON object in the order in which it is written.
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
	var none T
	return none, false
}

func parse(description []byte) (*document, error) {
	var d document
	if err := json.Unmarshal(description, &d); err != nil {
		return nil, fmt.Errorf("reading the description: %w", err)
	}
	return &d, nil
}

// component is the name that a reference points at.
func component(ref string) string { return strings.TrimPrefix(ref, "#/components/schemas/") }

// arguments are what an operation takes, those of the path first. A write has its own in the body.
func (o operation) arguments() []argument {
	var found []argument
	for _, p := range o.Parameters {
		if p.In == "path" || p.In == "query" {
			found = append(found,
				argument{Name: p.Name, In: p.In, Description: p.Description, Required: p.Required, schema: p.Schema})
		}
	}
	if o.RequestBody == nil {
		return found
	}
	body := o.RequestBody.Content["application/json"].Schema
	for _, p := range body.Properties {
		found = append(found, argument{
			Name: p.Name, In: "body", Description: p.Value.Description,
			Required: slices.Contains(body.Required, p.Name), schema: p.Value,
		})
	}
	return found
}

// keyLength is how long an Idempotency-Key may be, 0 where none is taken.
func (o operation) keyLength() (int, error) {
	for _, p := range o.Parameters {
		if p.In != "header" {
			continue
		}
		if p.Name != "Idempotency-Key" {
			return 0, fmt.Errorf("%s takes the header field %s, of which the clients know nothing", o.ID, p.Name)
		}
		return 128, nil // what every operation takes; paid ones take more
	}
	return 0, nil
}

// answer is the success of an operation: its status, and the schema of its envelope.
func (o operation) answer() (string, *schema, error) {
	for status, response := range o.Responses {
		if strings.HasPrefix(status, "2") {
			return status, response.Content["application/json"].Schema, nil
		}
	}
	return "", nil, fmt.Errorf("%s has no success", o.ID)
}
