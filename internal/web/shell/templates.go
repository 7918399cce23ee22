package shell

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/locale"
)

// perLanguage returns a function that calls parse once for each language, on first use.
func perLanguage(parse func(*locale.Language) *template.Template) func(*locale.Language) *template.Template {
	parsed := map[*locale.Language]func() *template.Template{}
	for _, l := range locale.All() {
		parsed[l] = sync.OnceValue(func() *template.Template { return parse(l) })
	}
	return func(l *locale.Language) *template.Template { return parsed[l]() }
}

// layout returns the templates that every page can use: the layout and the blocks of parts.html.
var layout = perLanguage(func(l *locale.Language) *template.Template {
	return template.Must(template.New("layout.html").Funcs(funcs(l)).
		ParseFS(files, "templates/layout.html", "templates/parts.html"))
})

// Page is a page's template in all languages, and the types of its data. A template is parsed on first use, so that
// nodes that only serve the API parse no templates.
type Page struct {
	name     string
	data     map[string]reflect.Type // by block; "" is the whole page
	parse    func(*locale.Language) *template.Template
	template func(*locale.Language) *template.Template // parsed once
}

// Pages maps names to pages.
type Pages map[string]Page

// Data maps the name of each page to a value of the type that it shows, such as listView{} or (*listView)(nil).
// "PAGE#BLOCK" is the data of a block that is rendered by itself. Pages refuse data of other types, and a test checks
// the templates against the types.
type Data map[string]any

func newPage(name string, data any, parse func(*locale.Language) *template.Template) Page {
	p := Page{name, map[string]reflect.Type{"": reflect.TypeOf(data)}, parse, perLanguage(parse)}
	registeredPages = append(registeredPages, p)
	return p
}

// shellPage returns a page of this package.
func shellPage(name string, data any) Page {
	return newPage(name, data, func(l *locale.Language) *template.Template {
		return template.Must(template.Must(layout(l).Clone()).ParseFS(files, "templates/"+name+".html"))
	})
}

// Parse returns the pages of a package by name: the files of its folder templates, each of which defines the block
// "main". Files whose names begin with an underscore define blocks for all of the package's pages. funcs are template
// functions, and langFuncs returns those that depend on the language. Parse panics unless data has every page. An
// invalid page panics on first use, which a test triggers.
func Parse(
	files fs.FS, data Data, funcs template.FuncMap, langFuncs ...func(*locale.Language) template.FuncMap,
) Pages {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic(err)
	}
	shared := perLanguage(func(l *locale.Language) *template.Template {
		t := template.Must(layout(l).Clone()).Funcs(funcs)
		for _, newFuncs := range langFuncs {
			t.Funcs(newFuncs(l))
		}
		for _, name := range names {
			if strings.HasPrefix(path.Base(name), "_") {
				template.Must(t.ParseFS(files, name))
			}
		}
		return t
	})
	out := Pages{}
	for _, file := range names {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if body, ok := data[name]; ok {
			out[name] = newPage(name, body, func(l *locale.Language) *template.Template {
				return template.Must(template.Must(shared(l).Clone()).ParseFS(files, file))
			})
		} else if !strings.HasPrefix(name, "_") {
			panic("no data for the page " + name)
		}
	}
	out.addBlocks(data)
	return out
}

// addBlocks adds the types of the blocks that are rendered by themselves.
func (p Pages) addBlocks(data Data) {
	for key, body := range data {
		name, block, _ := strings.Cut(key, "#")
		page, ok := p[name]
		if !ok {
			panic("no page " + name)
		}
		page.data[block] = reflect.TypeOf(body)
	}
}

// registeredPages has all pages of the program, which are added during initialization.
var registeredPages []Page

// EachPage iterates over all pages of the program, for tests of the templates.
func EachPage(yield func(name string, page Page) bool) {
	for _, page := range registeredPages {
		if !yield(page.name, page) {
			return
		}
	}
}

// LayoutType is the type of the layout's data. A page's data is in its field Body.
var LayoutType = reflect.TypeFor[page]()

// Parse parses the page in a language, for tests. The template is not shared with other calls.
func (p Page) Parse(l *locale.Language) *template.Template { return p.parse(l) }

// DataTypes returns the type of the data of each block that is rendered by itself, and of the whole page as "".
func (p Page) DataTypes() map[string]reflect.Type { return p.data }

// check returns an error if a block or the page does not take data of the body's type.
func (p Page) check(block string, body any) error {
	want, ok := p.data[block]
	if got := reflect.TypeOf(body); !ok || got != want {
		return fmt.Errorf("page %q, block %q: data has type %v, want %v", p.name, block, got, want)
	}
	return nil
}

// render returns the page in its layout.
func (p Page) render(in page) ([]byte, error) {
	var out bytes.Buffer
	if err := p.check("", in.Body); err != nil {
		return nil, err
	}
	err := p.template(in.Lang).Execute(&out, in)
	return out.Bytes(), err
}

// RenderBlock returns a block of the page, without the layout.
func (p Page) RenderBlock(l *locale.Language, block string, body any) ([]byte, error) {
	var out bytes.Buffer
	if err := p.check(block, body); err != nil {
		return nil, err
	}
	if err := p.template(l).ExecuteTemplate(&out, block, body); err != nil {
		return nil, fmt.Errorf("rendering a part of a page: %w", err)
	}
	return out.Bytes(), nil
}
