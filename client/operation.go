package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

type (
	// Operation is what the API's description tells of one operation.
	Operation struct {
		Name        string
		Method      string
		Path        string // below /api/v1, with {name} for arguments
		Summary     string
		Description string
		Arguments   []Argument
		TakesKey    bool // an Idempotency-Key; every write does
		Paid        bool // whether it may cost credits
		StartsJob   bool // whether it answers with a job to wait for
		Paged       bool
	}

	// Argument is what an operation takes.
	Argument struct {
		Name        string
		In          string // path, query or body
		Type        string // string, integer, number, boolean, strings, integers or objects
		Required    bool
		Nullable    bool // null is a value of its own, which clears what the argument sets
		Description string
		Default     string
		Values      []string // those that it may have, where they are few
	}
)

// Operations are all that there are, by their names' order.
func Operations() []Operation { return slices.Clone(operations) }

func find(name string) (Operation, error) {
	for _, o := range operations {
		if o.Name == name {
			return o, nil
		}
	}
	return Operation{}, fmt.Errorf("there is no operation %q", name)
}

// prepared is a call as it is sent, as often as need be.
type prepared struct {
	operation Operation
	target    *url.URL
	body      []byte // nil of a read
	key       string // the Idempotency-Key
}

// prepare puts arguments, a struct or map with the names of the wire, where they belong. Nothing is sent.
func (c *Client) prepare(o Operation, in any, options []CallOption) (*prepared, error) {
	given, err := o.members(in)
	if err != nil {
		return nil, err
	}
	p := &prepared{operation: o, key: newKey()}
	for _, option := range options {
		option(p)
	}
	if !o.TakesKey {
		p.key = ""
	} else if p.key == "" {
		return nil, errors.New("the Idempotency-Key is empty")
	}
	path, query, err := o.place(given)
	if err != nil {
		return nil, err
	}
	if p.target, err = c.base.Parse(c.base.EscapedPath() + path); err != nil {
		return nil, fmt.Errorf("%s: an argument of its path cannot stand in an address: %w", o.Name, err)
	}
	if o.Method == http.MethodGet {
		p.target.RawQuery = query.Encode()
		return p, nil
	}
	if p.body, err = json.Marshal(given); err != nil {
		return nil, fmt.Errorf("%s: writing its arguments: %w", o.Name, err)
	}
	return p, nil
}

// place takes out of the arguments what stands in the address. Of a read that is all, also what the service will not
// know.
func (o Operation) place(given map[string]json.RawMessage) (string, url.Values, error) {
	path, query := o.Path, url.Values{}
	for _, a := range o.Arguments {
		if a.In != "path" {
			continue
		}
		text := plain(given[a.Name])
		if text == "" || text == "." || text == ".." {
			return "", nil, fmt.Errorf("%s: %s is no id", o.Name, a.Name)
		}
		path = strings.Replace(path, "{"+a.Name+"}", url.PathEscape(text), 1)
		delete(given, a.Name)
	}
	if o.Method == http.MethodGet {
		for name, raw := range given {
			query.Set(name, plain(raw))
		}
	}
	return path, query, nil
}

// clearing is an input of which arguments can be sent as null.
type clearing interface{ nulls() []string }

// members returns the members of an input. Null is left out, unless the input says that it is meant: a map by holding
// it for a nullable argument, a generated struct by its Clear fields.
func (o Operation) members(in any) (map[string]json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if in == nil {
		return given, nil
	}
	if !legible(reflect.ValueOf(in)) {
		return nil, errors.New("an argument holds text that is not UTF-8, which would arrive as another one")
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("writing the arguments: %w", err)
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, errors.New("the arguments are no JSON object")
	}
	explicit := reflect.ValueOf(in).Kind() == reflect.Map
	maps.DeleteFunc(given, func(name string, value json.RawMessage) bool {
		return string(value) == "null" && (!explicit || !o.nullable(name))
	})
	if given == nil { // in was null itself
		given = map[string]json.RawMessage{}
	}
	cleared, ok := in.(clearing)
	if !ok {
		return given, nil
	}
	for _, name := range cleared.nulls() {
		if given[name] != nil {
			return nil, fmt.Errorf("%s: %s is both set and cleared", o.Name, name)
		}
		given[name] = json.RawMessage("null")
	}
	return given, nil
}

func (o Operation) nullable(name string) bool {
	return slices.ContainsFunc(o.Arguments, func(a Argument) bool { return a.Name == name && a.Nullable })
}

// legible tells whether all texts are UTF-8: package json would write others as U+FFFD.
func legible(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || legible(v.Elem())
	case reflect.Slice, reflect.Array:
		if raw, is := reflect.TypeAssert[json.RawMessage](v); is {
			return utf8.Valid(raw)
		}
		for i := range v.Len() {
			if !legible(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for name, item := range v.Seq2() {
			if !legible(name) || !legible(item) {
				return false
			}
		}
	case reflect.Struct:
		return legibleFields(v)
	}
	return true
}

func legibleFields(v reflect.Value) bool {
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && !legible(v.Field(i)) {
			return false
		}
	}
	return true
}

// plain is a JSON value as it stands in an address: lists are joined by commas.
func plain(raw json.RawMessage) string {
	var several []json.RawMessage
	if bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &several) == nil {
		texts := make([]string, len(several))
		for i, one := range several {
			texts[i] = plain(one)
		}
		return strings.Join(texts, ",")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
