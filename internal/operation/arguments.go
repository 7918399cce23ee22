package operation

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom/internal/fault"
	"pressroom/internal/secret"
)

// Arguments are what a call was sent, by name: string, bool, json.Number, int64, []any or map[string]any.
type Arguments map[string]any

// Check holds arguments against the operation's input: names, kinds, bounds. It returns the arguments after
// defaults as canonical JSON (sorted names, plain integers), which is what two calls are compared by.
func (op *Operation) Check(args Arguments) ([]byte, error) {
	if !op.Reads() && holdsSecret(args) {
		return nil, fault.Invalid(fault.SecretInArgument, op.secretive(args), "An argument holds an API key or an upload secret. Nothing was done with it; take it out, and replace the secret if others can have seen it.")
	}
	for name := range args {
		if op.Input.Properties[name] == nil {
			return nil, unknown(name, "")
		}
	}
	out := make(map[string]any, len(args))
	for _, name := range op.Input.PropertyOrder {
		if err := op.checkOne(name, args, out); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("writing arguments of %s: %w", op.Tool, err)
	}
	return raw, nil
}

func (op *Operation) checkOne(name string, args Arguments, out map[string]any) error {
	s := op.Input.Properties[name]
	value, given := args[name]
	switch {
	case given:
		checked, err := check(value, s, name, op.patterns)
		if err != nil {
			return err
		}
		out[name] = checked
	case s.Default != nil:
		out[name] = s.Default
	case slices.Contains(op.Input.Required, name):
		return fault.Invalid(fault.MissingArgument, name, "The argument "+name+" is required.")
	}
	return nil
}

// Without gives canonical arguments without some names: what a cursor is bound to.
func Without(canonical []byte, names ...string) []byte {
	if len(canonical) == 0 {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &all); err != nil {
		return canonical
	}
	for _, name := range names {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil
	}
	out, err := json.Marshal(all)
	if err != nil {
		return canonical
	}
	return out
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)

// unknown refuses a name that is not declared. The name is told only where it is plainly a name: nothing else
// that was sent is repeated.
func unknown(name, within string) error {
	if !plainName.MatchString(name) || secret.In(name) {
		name, within = "", strings.TrimSuffix(within, ".")
	}
	return fault.Invalid(fault.UnknownArgument, within+name, "Only the arguments of the description are accepted.")
}

func check(value any, s *jsonschema.Schema, name string, forms patterns) (any, error) {
	switch s.Type {
	case "string":
		return checkString(value, s, name, forms[s])
	case "integer":
		return checkInteger(value, s, name)
	case "number":
		return checkNumber(value, name)
	case "boolean":
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, fault.Invalid(fault.NotABoolean, name, "The argument "+name+" has to be true or false.")
	case "array":
		return checkList(value, s, name, forms)
	default:
		return checkObject(value, s, name, forms)
	}
}

func checkString(value any, s *jsonschema.Schema, name string, pattern *regexp.Regexp) (any, error) {
	text, ok := value.(string)
	if !ok {
		return nil, notText(value, name)
	}
	length := utf8.RuneCountInString(text)
	switch {
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		return nil, fault.Invalid(fault.Malformed, name, "The argument "+name+" holds a NUL or is not valid Unicode.")
	case s.MinLength != nil && length < *s.MinLength:
		return nil, fault.Invalid(fault.TooShort, name, fmt.Sprintf("The argument %s is shorter than %d.", name, *s.MinLength))
	case s.MaxLength != nil && length > *s.MaxLength:
		return nil, fault.Invalid(fault.TooLong, name, fmt.Sprintf("The argument %s takes at most %d characters. It is not shortened.", name, *s.MaxLength))
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		return nil, fault.Invalid(fault.NotAllowedValue, name, fmt.Sprintf("The argument %s takes one of: %s.", name, words(s.Enum)))
	case pattern != nil && !pattern.MatchString(text):
		return nil, fault.Invalid(fault.Malformed, name, "The argument "+name+" does not have its form.")
	}
	return text, nil
}

func notText(value any, name string) error {
	switch value.(type) {
	case []any, map[string]any:
		return fault.Invalid(fault.NotASingleValue, name, "The argument "+name+" takes one text.")
	}
	return fault.Invalid(fault.Malformed, name, "The argument "+name+" has to be a text.")
}

func checkInteger(value any, s *jsonschema.Schema, name string) (any, error) {
	n, ok := integer(value)
	if !ok {
		return nil, fault.Invalid(fault.NotAnInteger, name, "The argument "+name+" has to be a whole number.")
	}
	if s.Minimum != nil && float64(n) < *s.Minimum || s.Maximum != nil && float64(n) > *s.Maximum {
		return nil, fault.Invalid(fault.OutOfRange, name, "The argument "+name+" is out of its range"+bounds(s)+".")
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(n)) {
		return nil, fault.Invalid(fault.NotAllowedValue, name, fmt.Sprintf("The argument %s takes one of: %s.", name, words(s.Enum)))
	}
	return n, nil
}

// integer takes whole numbers in any of JSON's spellings (3, 3.0, 3e0) that an int64 holds exactly.
func integer(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, true
		}
		f, err := v.Float64()
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return 0, false
		}
		return int64(f), true
	}
	return 0, false
}

func checkNumber(value any, name string) (any, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f, nil
		}
	}
	return nil, fault.Invalid(fault.NotANumber, name, "The argument "+name+" has to be a number.")
}

func checkList(value any, s *jsonschema.Schema, name string, forms patterns) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, fault.Invalid(fault.NotAList, name, "The argument "+name+" has to be a list.")
	}
	if s.MinItems != nil && len(list) < *s.MinItems {
		return nil, fault.Invalid(fault.TooShort, name, fmt.Sprintf("The argument %s needs at least %d items.", name, *s.MinItems))
	}
	if s.MaxItems != nil && len(list) > *s.MaxItems {
		return nil, fault.Invalid(fault.TooLong, name, fmt.Sprintf("The argument %s takes at most %d items.", name, *s.MaxItems))
	}
	out := make([]any, len(list))
	for i, item := range list {
		checked, err := check(item, s.Items, name, forms)
		if err != nil {
			return nil, err
		}
		out[i] = checked
	}
	return out, nil
}

func checkObject(value any, s *jsonschema.Schema, name string, forms patterns) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fault.Invalid(fault.Malformed, name, "The argument "+name+" has to be an object.")
	}
	out := map[string]any{}
	for member, item := range object {
		p := s.Properties[member]
		if p == nil {
			return nil, unknown(member, name+".")
		}
		checked, err := check(item, p, name+"."+member, forms)
		if err != nil {
			return nil, err
		}
		out[member] = checked
	}
	for _, member := range s.Required {
		if _, ok := out[member]; !ok {
			return nil, fault.Invalid(fault.MissingArgument, name+"."+member, "An object of "+name+" lacks "+member+".")
		}
	}
	return out, nil
}

func bounds(s *jsonschema.Schema) string {
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf(" of %g to %g", *s.Minimum, *s.Maximum)
	case s.Minimum != nil:
		return fmt.Sprintf(", which begins at %g", *s.Minimum)
	}
	return ""
}

func words(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// secretive is the declared argument that holds a secret; empty where it is another.
func (op *Operation) secretive(args Arguments) string {
	for _, name := range op.Input.PropertyOrder {
		if holdsSecret(args[name]) {
			return name
		}
	}
	return ""
}

func holdsSecret(value any) bool {
	switch v := value.(type) {
	case string:
		return secret.In(v)
	case []any:
		return slices.ContainsFunc(v, holdsSecret)
	case Arguments:
		return holdsSecret(map[string]any(v))
	case map[string]any:
		for name, item := range v {
			if secret.In(name) || holdsSecret(item) {
				return true
			}
		}
	}
	return false
}
