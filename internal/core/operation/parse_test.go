package operation_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/must"
)

type input struct {
	ID     string         `json:"id" pattern:"^[a-z]{1,8}$"`
	Text   string         `json:"text" maxLength:"5" minLength:"1"`
	Number int            `json:"number,omitempty" min:"1" max:"50" default:"20"`
	Ratio  float64        `json:"ratio,omitempty"`
	Flag   bool           `json:"flag,omitempty" default:"true"`
	IDs    []int64        `json:"ids,omitempty" minItems:"1" maxItems:"3"`
	Words  []string       `json:"words,omitempty" enum:"red|green"`
	Days   int            `json:"days,omitempty" enum:"1|3|7"`
	Parts  []part         `json:"parts,omitempty"`
	Color  string         `json:"color,omitempty" enum:"red|green"`
	More   *string        `json:"more,omitempty"`
	Loose  map[string]int `json:"-"`
}

type part struct {
	Name string `json:"name"`
	Size int    `json:"size,omitempty"`
}

func define(method string) operation.Operation {
	key := operation.KeyOptional
	if method == "GET" {
		key = operation.KeyRejected
	}
	return operation.Define(operation.Spec{
		Tool: "test", Method: method, Path: "/things/{id}", Summary: "s", Description: "d", Needs: access.Read, Key: key, Success: 200,
	},
		func(_ context.Context, _ operation.Call, in input) (operation.Response[input], error) {
			return operation.Response[input]{Data: in}, nil
		})
}

// Details name the argument or the item of a list, and the accepted arguments. They never quote a value.
func TestCheckDetails(t *testing.T) {
	t.Parallel()
	op := define("POST")
	const accepted = "Unknown argument. This operation accepts: id, text, number, ratio, flag, ids, words, days, parts, " +
		"color, more."
	for body, want := range map[string]string{
		`{"ids":["seven"]}`:           "Each item of ids must be an integer.",
		`{"ids":7}`:                   "The argument ids must be a list.",
		`{"words":[7]}`:               "Each item of words must be a string, not a number. Put it in quotes.",
		`{"words":[["x"]]}`:           "Each item of words must be a single string.",
		`{"words":["blue"]}`:          "Each item of words must be one of: red, green.",
		`{"parts":["seven"]}`:         "Each item of parts must be an object.",
		`{"parts":[{"name":7}]}`:      "The argument parts.name must be a string, not a number. Put it in quotes.",
		`{"number":"seven"}`:          "The argument number must be an integer.",
		`{"number":77}`:               "The argument number must be from 1 to 50.",
		`{"colour":"seven"}`:          accepted,
		`{"parts":[{"colour":"se"}]}`: "Unknown member. Objects of parts have: name, size.",
		`{"not a name":"seven"}`:      accepted,
	} {
		args, err := operation.ParseObject([]byte(body))
		must.NoError(t, err)
		maps.Copy(args, map[string]any{"id": "a", "text": "x"})
		if _, err = op.Check(args); err == nil || apierr.FromError(err).Detail != want {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	op := define("POST")
	for _, c := range []struct{ body, reason, argument, canonical string }{
		{body: `{"id":"a","text":"hello"}`, canonical: `{"flag":true,"id":"a","number":20,"text":"hello"}`},
		{
			body:      `{"text":"é€😀ab","id":"a","number":3.0,"ids":[1e2]}`,
			canonical: `{"flag":true,"id":"a","ids":[100],"number":3,"text":"é€😀ab"}`,
		},
		{
			body:      `{"id":"a","text":"x","parts":[{"name":"n","size":2}]}`,
			canonical: `{"flag":true,"id":"a","number":20,"parts":[{"name":"n","size":2}],"text":"x"}`,
		},
		{body: `{"id":"a"}`, reason: apierr.MissingArgument, argument: "text"},
		{body: `{"id":"A","text":"x"}`, reason: apierr.Malformed, argument: "id"},
		{body: `{"id":"a","text":""}`, reason: apierr.TooShort, argument: "text"},
		{body: `{"id":"a","text":"sixsix"}`, reason: apierr.TooLong, argument: "text"},
		{body: `{"id":"a","text":["x"]}`, reason: apierr.NotASingleValue, argument: "text"},
		{body: `{"id":"a","text":{}}`, reason: apierr.NotASingleValue, argument: "text"},
		{body: `{"id":"a","text":5}`, reason: apierr.Malformed, argument: "text"},
		{body: `{"id":"a","text":null}`, reason: apierr.Malformed, argument: "text"},
		{body: `{"id":"a","text":"\u0000"}`, reason: apierr.Malformed, argument: "text"},
		{body: `{"id":"a","text":"x","number":1.5}`, reason: apierr.NotAnInteger, argument: "number"},
		{body: `{"id":"a","text":"x","number":"3"}`, reason: apierr.NotAnInteger, argument: "number"},
		{body: `{"id":"a","text":"x","number":true}`, reason: apierr.NotAnInteger, argument: "number"},
		{body: `{"id":"a","text":"x","number":null}`, reason: apierr.NotAnInteger, argument: "number"},
		{body: `{"id":"a","text":"x","number":1e400}`, reason: apierr.NotAnInteger, argument: "number"},
		{body: `{"id":"a","text":"x","number":0}`, reason: apierr.OutOfRange, argument: "number"},
		{body: `{"id":"a","text":"x","number":51}`, reason: apierr.OutOfRange, argument: "number"},
		{body: `{"id":"a","text":"x","days":2}`, reason: apierr.NotAllowedValue, argument: "days"},
		{body: `{"id":"a","text":"x","days":3}`, canonical: `{"days":3,"flag":true,"id":"a","number":20,"text":"x"}`},
		{body: `{"id":"a","text":"x","ratio":"y"}`, reason: apierr.NotANumber, argument: "ratio"},
		{body: `{"id":"a","text":"x","ratio":1e400}`, reason: apierr.NotANumber, argument: "ratio"},
		{body: `{"id":"a","text":"x","flag":"true"}`, reason: apierr.NotABoolean, argument: "flag"},
		{body: `{"id":"a","text":"x","ids":5}`, reason: apierr.NotAList, argument: "ids"},
		{body: `{"id":"a","text":"x","ids":[]}`, reason: apierr.TooShort, argument: "ids"},
		{body: `{"id":"a","text":"x","ids":[1,2,3,4]}`, reason: apierr.TooLong, argument: "ids"},
		{body: `{"id":"a","text":"x","ids":["one"]}`, reason: apierr.NotAnInteger, argument: "ids"},
		{body: `{"id":"a","text":"x","words":["blue"]}`, reason: apierr.NotAllowedValue, argument: "words"},
		{body: `{"id":"a","text":"x","color":"blue"}`, reason: apierr.NotAllowedValue, argument: "color"},
		{body: `{"id":"a","text":"x","parts":["n"]}`, reason: apierr.Malformed, argument: "parts"},
		{body: `{"id":"a","text":"x","parts":[{"size":2}]}`, reason: apierr.MissingArgument, argument: "parts.name"},
		{body: `{"id":"a","text":"x","parts":[{"name":"n","more":1}]}`, reason: apierr.UnknownArgument, argument: "parts.more"},
		{body: `{"id":"a","text":"x","other":1}`, reason: apierr.UnknownArgument, argument: "other"},
		{body: `{"id":"a","text":"x","not a name":1}`, reason: apierr.UnknownArgument},
		{body: `{"id":"a","text":"x","text":"y"}`, reason: apierr.ArgumentGivenTwice},
		{body: `[]`, reason: apierr.BodyNotAnObject},
		{body: `null`, reason: apierr.BodyNotAnObject},
		{body: ``, reason: apierr.BodyNotAnObject},
		{body: `{"id":"a"`, reason: apierr.BodyNotAnObject},
		{body: `{"id":"a"} {}`, reason: apierr.BodyNotAnObject},
		{body: "{\"id\":\"\xff\"}", reason: apierr.BodyNotAnObject},
		{body: `{"id":"\ud800"}`, reason: apierr.BodyNotAnObject},
		{body: `{"id":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, reason: apierr.Malformed},
	} {
		args, err := operation.ParseObject([]byte(c.body))
		var canonical []byte
		if err == nil {
			canonical, err = op.Check(args)
		}
		if c.reason == "" {
			if err != nil || string(canonical) != c.canonical {
				t.Errorf("%s: %s (%v)", c.body, canonical, err)
			}
			continue
		}
		f := apierr.FromError(err)
		if f.Context["reason"] != c.reason || errorArgument(f) != c.argument {
			t.Errorf("%s: %v, want %s %s", c.body, f.Context, c.reason, c.argument)
		}
	}
}

func errorArgument(f *apierr.Error) string {
	name, _ := f.Context["argument"].(string)
	return name
}

// The context of an error about an item of a list has the index of the item.
func TestCheckItem(t *testing.T) {
	t.Parallel()
	op := define("POST")
	for body, want := range map[string]any{
		`{"id":"a","text":"x","ids":["one"]}`:                       0,
		`{"id":"a","text":"x","ids":[1,2,"three"]}`:                 2,
		`{"id":"a","text":"x","parts":[{"name":"n"},{"size":2}]}`:   1,
		`{"id":"a","text":"x","parts":[{"name":"n"},{"more":"x"}]}`: 1,
		`{"id":"a","text":"x","ids":[1,2,3,4]}`:                     nil,
		`{"id":"a","text":"x","number":51}`:                         nil,
	} {
		args, err := operation.ParseObject([]byte(body))
		must.NoError(t, err)
		if _, err = op.Check(args); err == nil || apierr.FromError(err).Context["item"] != want {
			t.Errorf("%s: %v, want item %v", body, err, want)
		}
	}
}

func TestParseQuery(t *testing.T) {
	t.Parallel()
	op := define("GET")
	for query, want := range map[string]string{
		"text=a&number=1&number=2":        `{"flag":true,"id":"a","number":2,"text":"a"}`,
		"text=a%20b&flag=false":           `{"flag":false,"id":"a","number":20,"text":"a b"}`,
		"text=x&ids=1,2":                  `{"flag":true,"id":"a","ids":[1,2],"number":20,"text":"x"}`,
		"text=x&words=red,green&":         `{"flag":true,"id":"a","number":20,"text":"x","words":["red","green"]}`,
		"text=x&number=":                  apierr.NotAnInteger,
		"text=x&number=%2B5":              apierr.NotAnInteger,
		"text=x&number=0x10":              apierr.NotAnInteger,
		"text=x&number=05":                apierr.NotAnInteger,
		"text=x&number=1_0":               apierr.NotAnInteger,
		"text=x&number=Inf":               apierr.NotAnInteger,
		"text=x&flag=1":                   apierr.NotABoolean,
		"text=x&flag=True":                apierr.NotABoolean,
		"text=%zz":                        apierr.Malformed,
		"text=x&number[]=5":               apierr.UnknownArgument,
		"text=x&ids=":                     apierr.NotAnInteger,
		"text=x&number=99999999999999999": apierr.OutOfRange,
	} {
		args, err := op.ParseQuery(query)
		if err == nil {
			args["id"] = op.PathValue("id", "a")
			var canonical []byte
			if canonical, err = op.Check(args); err == nil {
				if string(canonical) != want {
					t.Errorf("%s: %s", query, canonical)
				}
				continue
			}
		}
		if apierr.FromError(err).Context["reason"] != want {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
}

// Different notations of the same arguments have the same canonical form. Other arguments have another.
func TestCanonicalArguments(t *testing.T) {
	t.Parallel()
	op := define("POST")
	canonical := func(t *rapid.T, args map[string]any) string {
		raw := must.Get(json.Marshal(args))(t)
		parsed := must.Get(operation.ParseObject(raw))(t)
		out, err := op.Check(parsed)
		if err != nil {
			t.Skip("invalid arguments have no canonical form")
		}
		return string(out)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 5, -1).Draw(t, "text")
		number := rapid.IntRange(1, 50).Draw(t, "number")
		args := map[string]any{"id": "a", "text": text, "number": number}
		first := canonical(t, args)
		args["number"], args["flag"] = json.Number(json.Number(itoa(number)).String()+".0"), true
		if second := canonical(t, args); second != first {
			t.Fatalf("%s and %s", first, second)
		}
		args["number"] = number%50 + 1
		if third := canonical(t, args); third == first {
			t.Fatalf("another number has the same canonical form: %s", first)
		}
	})
}

func itoa(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{
		`{"id":"a","text":"x"}`, `{"a":{"b":[1,2,{"c":null}]}}`, `{"a":1e999}`, "{\"\xff\":1}", `{"a":"\ud83d\ude00"}`,
	} {
		f.Add([]byte(seed))
	}
	op := define("POST")
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, err := operation.ParseObject(raw)
		if err != nil {
			if apierr.FromError(err).Code != apierr.ValidationFailed {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		canonical, err := op.Check(args)
		if err != nil && apierr.FromError(err).Code != apierr.ValidationFailed {
			t.Fatalf("%q: %v", raw, err)
		}
		if err == nil && len(canonical) > 0 && !json.Valid(canonical) {
			t.Fatalf("%q became %q", raw, canonical)
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	f.Add("text=a&number=1&ids=1,2&flag=true")
	f.Add("%&=&&a=%2")
	op := define("GET")
	f.Fuzz(func(t *testing.T, query string) {
		args, err := op.ParseQuery(query)
		if err == nil {
			_, err = op.Check(args)
		}
		if err != nil && apierr.FromError(err).Code != apierr.ValidationFailed {
			t.Fatalf("%q: %v", query, err)
		}
	})
}
