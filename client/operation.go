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
	// Operation describes an operation of the API.
	Operation struct {
		Name        string
		Method      string
		Path        string // below /api/v1, with {name} for arguments
		Summary     string
		Description string
		Arguments   []Argument
		TakesKey    bool // whether it accepts an Idempotency-Key; true for every write
		Paid        bool // whether it may cost credits
		StartsJob   bool // whether it returns a job to wait for
		Paged       bool // whether it returns pages
	}

	// Argument describes an argument of an operation.
	Argument struct {
		Name        string
		In          string // path, query or body
		Type        string // string, integer, number, boolean, strings, integers or objects
		Required    bool
		Nullable    bool // whether null clears the value that the argument sets
		Description string
		Default     string
		Values      []string // possible values of an enumeration
	}
)

// Operations returns all operations, sorted by name.
func Operations() []Operation { return slices.Clone(operations) }

func find(name string) (Operation, error) {
	for _, o := range operations {
		if o.Name == name {
			return o, nil
		}
	}
	return Operation{}, fmt.Errorf("unknown operation %q; Operations returns all operations", name)
}

// preparedCall is a call that can be sent repeatedly.
type preparedCall struct {
	operation  Operation
	target     *url.URL
	body       []byte // nil for a read, or if there are no arguments
	key        string // Idempotency-Key
	credential string // API key or access token
}

// prepare builds a call. in is a struct or map with JSON names, or JSON. prepare does not send the call.
func (c *Client) prepare(o Operation, in any, options []CallOption) (*preparedCall, error) {
	args, err := o.members(in)
	if err != nil {
		return nil, err
	}
	p := &preparedCall{operation: o, key: newKey()}
	for _, option := range options {
		option(p)
	}
	if !o.TakesKey {
		p.key = ""
	} else if p.key == "" {
		return nil, errors.New("the Idempotency-Key is empty")
	}
	path, query, err := o.pathAndQuery(args)
	if err != nil {
		return nil, err
	}
	if p.target, err = c.base.Parse(c.base.EscapedPath() + path); err != nil {
		return nil, fmt.Errorf("%s: an argument cannot be used in the path: %w", o.Name, err)
	}
	if o.Method == http.MethodGet {
		p.target.RawQuery = query.Encode()
		return p, nil
	}
	if len(args) == 0 && !o.takesBody() {
		return p, nil
	}
	if p.body, err = json.Marshal(args); err != nil {
		return nil, fmt.Errorf("%s: encoding the arguments: %w", o.Name, err)
	}
	return p, nil
}

// takesBody reports whether the operation's arguments are sent in the body.
func (o Operation) takesBody() bool {
	return slices.ContainsFunc(o.Arguments, func(a Argument) bool { return a.In == "body" })
}

// pathAndQuery returns the path and the query of a call. It removes the arguments that are in the path from args. The
// query of a read contains all other arguments, including unknown ones.
func (o Operation) pathAndQuery(args map[string]json.RawMessage) (string, url.Values, error) {
	path, query := o.Path, url.Values{}
	for _, a := range o.Arguments {
		if a.In != "path" {
			continue
		}
		text := plain(args[a.Name])
		if text == "" || text == "." || text == ".." {
			return "", nil, fmt.Errorf("%s: %s is not an ID", o.Name, a.Name)
		}
		path = strings.Replace(path, "{"+a.Name+"}", url.PathEscape(text), 1)
		delete(args, a.Name)
	}
	if o.Method == http.MethodGet {
		for name, raw := range args {
			query.Set(name, plain(raw))
		}
	}
	return path, query, nil
}

// clearable is implemented by inputs with arguments that can be sent as null. nulls returns the names of the arguments
// to send as null.
type clearable interface{ nulls() []string }

// members returns the members of an input. It omits members that are null, unless null clears an argument. In a map,
// this is the case for nullable arguments. In a generated struct, it is the case if the argument's Clear field is set.
func (o Operation) members(in any) (map[string]json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if in == nil {
		return args, nil
	}
	if !validUTF8(reflect.ValueOf(in)) {
		return nil, errors.New("an argument is not valid UTF-8")
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding the arguments: %w", err)
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, errors.New("the arguments are not a JSON object")
	}
	explicit := reflect.ValueOf(in).Kind() == reflect.Map
	maps.DeleteFunc(args, func(name string, value json.RawMessage) bool {
		return string(value) == "null" && (!explicit || !o.nullable(name))
	})
	if args == nil { // in was null
		args = map[string]json.RawMessage{}
	}
	cleared, ok := in.(clearable)
	if !ok {
		return args, nil
	}
	for _, name := range cleared.nulls() {
		if args[name] != nil {
			return nil, fmt.Errorf("%s: %s is both set and cleared", o.Name, name)
		}
		args[name] = json.RawMessage("null")
	}
	return args, nil
}

func (o Operation) nullable(name string) bool {
	return slices.ContainsFunc(o.Arguments, func(a Argument) bool { return a.Name == name && a.Nullable })
}

// validUTF8 reports whether all strings are valid UTF-8. encoding/json would replace invalid bytes with U+FFFD.
func validUTF8(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || validUTF8(v.Elem())
	case reflect.Slice, reflect.Array:
		if raw, is := v.Interface().(json.RawMessage); is {
			return utf8.Valid(raw)
		}
		for i := range v.Len() {
			if !validUTF8(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for name, item := range v.Seq2() {
			if !validUTF8(name) || !validUTF8(item) {
				return false
			}
		}
	case reflect.Struct:
		return validFields(v)
	}
	return true
}

func validFields(v reflect.Value) bool {
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() && !validUTF8(v.Field(i)) {
			return false
		}
	}
	return true
}

// plain returns a JSON value in the form for a URL. It joins the elements of a list with commas.
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
