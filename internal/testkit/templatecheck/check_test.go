package templatecheck_test

import (
	"bytes"
	"html/template"
	"iter"
	"reflect"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/templatecheck"
)

type pet struct { //nolint:recvcheck // has methods with both kinds of receivers
	Name  string
	Owner *person
	Tags  []string
	Bytes map[string]int
	Any   any
	age   int
}

func (pet) Loud(times int) string { return strings.Repeat("!", times) }
func (p *pet) Grow() int          { p.age++; return p.age }

type person struct {
	Pets  []pet
	Place string
}

func (*person) Each() iter.Seq2[int, pet] { return func(func(int, pet) bool) {} }

var funcs = template.FuncMap{
	"shout":  func(text string) string { return text + "!" },
	"bundle": func(...any) (map[string]any, error) { return map[string]any{}, nil },
	"join":   func(by string, texts ...string) string { return strings.Join(texts, by) },
}

func check(t *testing.T, text string, known ...templatecheck.Field) string {
	t.Helper()
	parsed := must.Get(template.New("page").Funcs(funcs).Parse(text))(t)
	var out []string
	for _, err := range templatecheck.Check(parsed, reflect.TypeFor[pet](), known...) {
		out = append(out, err.Error())
	}
	return strings.Join(out, "\n")
}

func TestCheckRejects(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{{.Nam}}`:                                          "has no field or method Nam",
		`{{.age}}`:                                          "has no field or method age",
		`{{.Owner.Address}}`:                                "templatecheck_test.person has no field or method Address",
		`{{with .Owner}}{{.Name}}{{end}}`:                   "has no field or method Name",
		`{{if .Name}}{{else}}{{.X}}{{end}}`:                 "has no field or method X",
		`{{range .Owner.Pets}}{{.Nam}}{{end}}`:              "has no field or method Nam",
		`{{range $i, $p := .Owner.Pets}}{{$p.Nam}}{{end}}`:  "has no field or method Nam",
		`{{range .Owner.Each}}{{.X}}{{end}}`:                "int has no field or method X",
		`{{range $i, $p := .Owner.Each}}{{$p.X}}{{end}}`:    "pet has no field or method X",
		`{{range $i, $n := 3}}{{end}}`:                      "cannot range over int",
		`{{range .Name}}{{end}}`:                            "cannot range over string",
		`{{range .Tags}}{{$.Nam}}{{end}}`:                   "has no field or method Nam",
		`{{.Grow}}`:                                         "has no field or method Grow",
		`{{.Loud "x"}}`:                                     "cannot use the literal as int",
		`{{.Loud}}`:                                         "Loud has 0 arguments, want 1",
		`{{.Name 1}}`:                                       "has no method Name",
		`{{shout .Tags}}`:                                   "cannot use []string as string",
		`{{.Tags | shout}}`:                                 "cannot use []string as string",
		`{{join .Name .Owner}}`:                             "cannot use *templatecheck_test.person as string",
		`{{eq .Name 1}}`:                                    "cannot compare string and int",
		`{{len .Owner}}`:                                    "len of templatecheck_test.person",
		`{{(index .Owner.Pets 0).Nam}}`:                     "has no field or method Nam",
		`{{index .Owner 0}}`:                                "cannot index",
		`{{slice .Owner 1}}`:                                "cannot slice",
		`{{.Any.Name}}`:                                     "interface {} has no field or method Name",
		`{{$x := .Name}}{{$x = .Tags}}`:                     "$x has the type string, and []string is assigned",
		`{{(or .Name .Tags).X}}`:                            "interface {} has no field or method X",
		`{{template "a" .Tags}}{{define "a"}}{{.X}}{{end}}`: "[]string has no field or method X",
		`{{define "a"}}{{.Name}}{{end}}{{template "a" .}}{{template "a" .Owner}}`:              "person has no field or method Name",
		`{{template "a" bundle "X" .Owner}}{{define "a"}}{{.X.Name}}{{end}}`:                   "person has no field or method Name",
		`{{template "a" bundle "X" .Owner}}{{define "a"}}{{.Y}}{{end}}`:                        "there is no such value",
		`{{template "a" bundle "X" .Owner}}{{define "a"}}{{shout .Y}}{{end}}`:                  "cannot use no value as string",
		`{{template "a"}}{{define "a"}}{{.X}}{{end}}`:                                          "there is no such value",
		`{{template "b" 1}}{{define "b"}}{{template "c" .}}{{end}}{{define "c"}}{{.X}}{{end}}`: "int has no field or method X",
	} {
		if got := check(t, text); !strings.Contains(got, want) || strings.Count(got, "\n") > 0 {
			t.Errorf("%s: %q, want the error %q", text, got, want)
		}
	}
}

// The templates that the check accepts can be executed.
func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{{.Name}}{{.Loud 2}}{{.Bytes.x}}{{.Any}}{{len .Tags}}{{len .Name}}`,
		`{{with .Owner}}{{.Place}}{{range .Pets}}{{.Grow}}{{.Name}}{{end}}{{end}}`,
		`{{range $i, $p := .Owner.Each}}{{$i}}{{$p.Name}}{{else}}{{.Name}}{{end}}`,
		`{{range $i := 3}}{{$i}}{{$.Name}}{{end}}`,
		`{{.Name | shout | printf "%s"}}{{join "," "a" .Name}}{{eq .Name "x" "y"}}`,
		`{{$x := false}}{{range .Tags}}{{if eq . "a"}}{{$x = true}}{{end}}{{end}}{{if $x}}a{{end}}`,
		`{{(index .Owner.Pets 0).Name}}{{slice .Name 1}}{{with $o := .Owner}}{{$o.Place}}{{end}}`,
		`{{template "a" bundle "X" .Name}}{{template "a" .}}{{define "a"}}{{if .Name}}{{shout .Name}}{{end}}{{end}}`,
		`{{template "a" bundle}}{{define "a"}}{{if and .X (eq .X.Y 1)}}{{.X.Z}}{{end}}{{or .X "-"}}{{end}}`,
		`{{template "a" .Owner}}{{define "a"}}{{range .Pets}}{{with .Owner}}{{template "a" .}}{{end}}{{end}}{{end}}`,
		`{{block "b" .Name}}{{shout .}}{{end}}{{if not .Tags}}{{and .Name .Owner.Place | shout}}{{end}}`,
	} {
		if got := check(t, text); got != "" {
			t.Errorf("%s: %s", text, got)
		}
		rex := pet{Name: "Rex", Owner: &person{Pets: []pet{{Name: "Kim"}}}, Tags: []string{"a"}}
		parsed := must.Get(template.New("page").Funcs(funcs).Parse(text))(t)
		if err := parsed.Execute(&bytes.Buffer{}, rex); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCheckKnownField(t *testing.T) {
	t.Parallel()
	known := templatecheck.Field{Struct: reflect.TypeFor[pet](), Name: "Any", Type: reflect.TypeFor[person]()}
	if got := check(t, `{{.Any.Place}}`, known); got != "" {
		t.Error(got)
	}
	if got := check(t, `{{.Any.Plac}}`, known); !strings.Contains(got, "person has no field or method Plac") {
		t.Errorf("%q", got)
	}
}
