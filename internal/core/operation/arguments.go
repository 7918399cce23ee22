package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/teamtime"
)

// Arguments holds the arguments of a call by name. The values have the types string, bool, json.Number, int64, []any or
// map[string]any.
type Arguments map[string]any

// Check checks arguments against the operation's input schema. It returns the arguments, with the defaults of omitted
// arguments, as canonical JSON (sorted names, plain integers). Equal calls therefore have equal JSON.
func (op *Operation) Check(args Arguments) ([]byte, error) {
	if !op.Reads() && containsSecret(args) {
		return nil, apierr.Invalid(apierr.SecretInArgument, op.secretArgument(args),
			"An argument contains an API key or an upload secret. Nothing was done. Remove it, and replace the secret "+
				"if others may have seen it.")
	}
	for name := range args {
		if op.Input.Properties[name] == nil {
			return nil, unknownNameError(name, "", op.Input)
		}
	}
	out := make(map[string]any, len(args))
	for _, name := range op.Input.PropertyOrder {
		if err := op.checkArgument(name, args, out); err != nil {
			return nil, err
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encoding the arguments of %s: %w", op.Tool, err)
	}
	return raw, nil
}

func (op *Operation) checkArgument(name string, args Arguments, out map[string]any) error {
	s := op.Input.Properties[name]
	value, ok := args[name]
	switch {
	case ok:
		canonical, err := check(value, s, subject{name: name}, op.patterns)
		if err != nil {
			return err
		}
		out[name] = canonical
	case s.Default != nil:
		out[name] = s.Default
	case slices.Contains(op.Input.Required, name):
		return apierr.Invalid(apierr.MissingArgument, name, "The argument "+name+" is required.")
	}
	return nil
}

// Without returns canonical arguments without the arguments that have the given names.
func Without(canonical []byte, names ...string) []byte {
	if len(canonical) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &members); err != nil {
		return canonical
	}
	for _, name := range names {
		delete(members, name)
	}
	if len(members) == 0 {
		return nil
	}
	out, err := json.Marshal(members)
	if err != nil {
		return canonical
	}
	return out
}

// Instants converts the operation's times in canonical arguments to instants in UTC. It interprets times without an
// offset in zone and leaves invalid times unchanged. It returns nil if the arguments do not contain a valid time.
func (op *Operation) Instants(canonical []byte, zone *time.Location) []byte {
	if len(op.Times) == 0 || len(canonical) == 0 {
		return nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(canonical, &members); err != nil {
		return nil
	}
	hasTime := false
	for _, name := range op.Times {
		var text string
		if err := json.Unmarshal(members[name], &text); err != nil {
			continue
		}
		if at, err := teamtime.Parse(text, zone); err == nil {
			members[name] = json.RawMessage(strconv.Quote(at.UTC().Format(time.RFC3339Nano)))
			hasTime = true
		}
	}
	if !hasTime {
		return nil
	}
	out, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return out
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,39}$`)

// unknownNameError returns the error for an undeclared argument. It includes the name only if it looks like a plain
// name, because errors must not repeat other input.
func unknownNameError(name, parent string, s *jsonschema.Schema) error {
	if !plainName.MatchString(name) || apikey.ContainsSecret(name) {
		name, parent = "", strings.TrimSuffix(parent, ".")
	}
	detail := "This operation has no arguments. Remove all arguments."
	accepted := strings.Join(s.PropertyOrder, ", ") + "."
	switch {
	case parent != "":
		detail = "Unknown member. Objects of " + strings.TrimSuffix(parent, ".") + " have: " + accepted
	case len(s.PropertyOrder) > 0:
		detail = "Unknown argument. This operation accepts: " + accepted
	}
	return apierr.Invalid(apierr.UnknownArgument, parent+name, detail)
}

// subject is what an error is about: an argument, or an item of a list argument.
type subject struct {
	name   string
	isItem bool
}

// ruleSubject returns the start of a sentence about the allowed values.
func (s subject) ruleSubject() string {
	if s.isItem {
		return "Each item of " + s.name
	}
	return "The argument " + s.name
}

// valueSubject returns the start of a sentence about the actual value.
func (s subject) valueSubject() string {
	if s.isItem {
		return "An item of " + s.name
	}
	return "The argument " + s.name
}

func check(value any, s *jsonschema.Schema, subj subject, forms patterns) (any, error) {
	if value == nil && isNullable(s) {
		return nil, nil //nolint:nilnil // null is the value
	}
	switch schemaType(s) {
	case "string":
		return checkString(value, s, subj, forms[s])
	case "integer":
		return checkInteger(value, s, subj)
	case "number":
		return checkNumber(value, subj)
	case "boolean":
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, apierr.Invalid(apierr.NotABoolean, subj.name, subj.ruleSubject()+" must be true or false.")
	case "array":
		return checkList(value, s, subj, forms)
	default:
		return checkObject(value, s, subj, forms)
	}
}

func checkString(value any, s *jsonschema.Schema, subj subject, pattern *regexp.Regexp) (any, error) {
	text, ok := value.(string)
	if !ok {
		return nil, notTextError(value, s, subj)
	}
	length := utf8.RuneCountInString(text)
	switch {
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		return nil, apierr.Invalid(apierr.Malformed, subj.name,
			subj.valueSubject()+" contains a NUL character or invalid UTF-8.")
	case s.MinLength != nil && length < *s.MinLength:
		return nil, apierr.Invalid(apierr.TooShort, subj.name,
			fmt.Sprintf("%s must have at least %d characters.", subj.ruleSubject(), *s.MinLength))
	case s.MaxLength != nil && length > *s.MaxLength:
		return nil, apierr.Invalid(apierr.TooLong, subj.name,
			fmt.Sprintf("%s must have at most %d characters.", subj.ruleSubject(), *s.MaxLength))
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)):
		return nil, notAllowedError(s, subj)
	case pattern != nil && !pattern.MatchString(text):
		return nil, apierr.Invalid(apierr.Malformed, subj.name, subj.valueSubject()+" has an invalid format.")
	}
	return text, nil
}

// notAllowedError returns the error for a value that is not in the schema's enum.
func notAllowedError(s *jsonschema.Schema, subj subject) error {
	values := make([]string, len(s.Enum))
	for i, v := range s.Enum {
		values[i] = fmt.Sprint(v)
	}
	return apierr.Invalid(apierr.NotAllowedValue, subj.name, subj.ruleSubject()+" must be one of: "+strings.Join(values, ", ")+".")
}

// notTextError returns the error for a value that is not a string.
func notTextError(value any, s *jsonschema.Schema, subj subject) error {
	kind := "a string"
	if isNullable(s) {
		kind = "a string or null"
	}
	switch value.(type) {
	case []any, map[string]any:
		return apierr.Invalid(apierr.NotASingleValue, subj.name, subj.ruleSubject()+" must be a single string.")
	case nil:
		return apierr.Invalid(apierr.Malformed, subj.name, subj.ruleSubject()+" must be a string and cannot be null.")
	case bool:
		return apierr.Invalid(apierr.Malformed, subj.name,
			subj.ruleSubject()+" must be "+kind+", not a boolean. Put it in quotes.")
	}
	return apierr.Invalid(apierr.Malformed, subj.name,
		subj.ruleSubject()+" must be "+kind+", not a number. Put it in quotes.")
}

func checkInteger(value any, s *jsonschema.Schema, subj subject) (any, error) {
	n, ok := parseInteger(value)
	if !ok {
		return nil, apierr.Invalid(apierr.NotAnInteger, subj.name, subj.ruleSubject()+" must be an integer.")
	}
	if s.Minimum != nil && float64(n) < *s.Minimum || s.Maximum != nil && float64(n) > *s.Maximum {
		return nil, apierr.Invalid(apierr.OutOfRange, subj.name, subj.ruleSubject()+" must be "+describeBounds(s)+".")
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(n)) {
		return nil, notAllowedError(s, subj)
	}
	return n, nil
}

// parseInteger converts an integer in any JSON notation (3, 3.0, 3e0). It returns false if an int64 cannot represent
// the value exactly.
func parseInteger(value any) (int64, bool) {
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

func checkNumber(value any, subj subject) (any, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f, nil
		}
	}
	return nil, apierr.Invalid(apierr.NotANumber, subj.name, subj.ruleSubject()+" must be a number.")
}

func checkList(value any, s *jsonschema.Schema, subj subject, forms patterns) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, apierr.Invalid(apierr.NotAList, subj.name, subj.ruleSubject()+" must be a list.")
	}
	if s.MinItems != nil && len(list) < *s.MinItems {
		return nil, apierr.Invalid(apierr.TooShort, subj.name,
			fmt.Sprintf("%s must have at least %d items.", subj.ruleSubject(), *s.MinItems))
	}
	if s.MaxItems != nil && len(list) > *s.MaxItems {
		return nil, apierr.Invalid(apierr.TooLong, subj.name,
			fmt.Sprintf("%s must have at most %d items.", subj.ruleSubject(), *s.MaxItems))
	}
	out := make([]any, len(list))
	for i, item := range list {
		canonical, err := check(item, s.Items, subject{name: subj.name, isItem: true}, forms)
		if err != nil {
			return nil, withItem(err, i)
		}
		out[i] = canonical
	}
	return out, nil
}

// withItem adds the index of a list's invalid item to the error's context.
func withItem(err error, i int) error {
	invalid, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		return err
	}
	return invalid.With("item", i)
}

func checkObject(value any, s *jsonschema.Schema, subj subject, forms patterns) (any, error) {
	object, ok := value.(map[string]any)
	name := subj.name
	if !ok {
		return nil, apierr.Invalid(apierr.Malformed, name, subj.ruleSubject()+" must be an object.")
	}
	out := map[string]any{}
	for member, item := range object {
		p := s.Properties[member]
		if p == nil {
			return nil, unknownNameError(member, name+".", s)
		}
		canonical, err := check(item, p, subject{name: name + "." + member}, forms)
		if err != nil {
			return nil, err
		}
		out[member] = canonical
	}
	for _, member := range s.Required {
		if _, ok := out[member]; !ok {
			return nil, apierr.Invalid(apierr.MissingArgument, name+"."+member,
				"An object of "+name+" requires "+member+".")
		}
	}
	return out, nil
}

func describeBounds(s *jsonschema.Schema) string {
	switch {
	case s.Minimum == nil:
		return fmt.Sprintf("at most %.0f", *s.Maximum)
	case s.Maximum == nil:
		return fmt.Sprintf("at least %.0f", *s.Minimum)
	}
	return fmt.Sprintf("from %.0f to %.0f", *s.Minimum, *s.Maximum)
}

// secretArgument returns the name of the first declared argument that contains a secret, or "" if there is none.
func (op *Operation) secretArgument(args Arguments) string {
	for _, name := range op.Input.PropertyOrder {
		if containsSecret(args[name]) {
			return name
		}
	}
	return ""
}

// containsSecret reports whether a value, or a name in it, contains an API key, an upload secret or another token.
func containsSecret(value any) bool {
	switch v := value.(type) {
	case string:
		return apikey.ContainsSecret(v)
	case []any:
		return slices.ContainsFunc(v, containsSecret)
	case Arguments:
		return containsSecret(map[string]any(v))
	case map[string]any:
		for name, item := range v {
			if apikey.ContainsSecret(name) || containsSecret(item) {
				return true
			}
		}
	}
	return false
}
