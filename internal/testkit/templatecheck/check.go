// Package templatecheck checks templates against the types of their data without executing them. It follows the rules
// of text/template, and every call of a nested template is checked with the type of its data. A map that the function
// bundle makes has the types of its values, so that nested templates can be checked with it.
package templatecheck

import (
	"fmt"
	"html/template"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// Field is the type of the values in a struct's field of interface type.
type Field struct {
	Struct reflect.Type
	Name   string
	Type   reflect.Type // nil if the field is nil
}

// Check returns the errors that occur if t is executed with data of the type. data is nil for a template without data.
// Check must not run at the same time as an execution of t, because the first execution changes the template.
func Check(t *template.Template, data reflect.Type, known ...Field) []error {
	c := &checker{set: t, funcs: functionsOf(t), known: known, visited: map[visit]bool{}}
	c.template(t.Tree, t.Name(), value{typ: data, absent: data == nil})
	return c.errs
}

// functionsOf returns the types of a template's functions, which html/template does not export.
func functionsOf(t *template.Template) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	all := reflect.ValueOf(t).Elem().FieldByName("text").Elem().FieldByName("parseFuncs").MapRange()
	for all.Next() {
		out[all.Key().String()] = all.Value().Elem().Type()
	}
	return out
}

// value is what is known about a value during the execution.
type value struct {
	typ       reflect.Type     // nil if it is unknown because of an error that has been reported
	addressed bool             // whether the methods of pointers can be called
	keys      map[string]value // values of a bundle
	absent    bool             // missing key of a map, or missing data; only good as a condition
}

// String identifies the value's type.
func (v value) String() string {
	switch {
	case v.absent:
		return "no value"
	case v.typ == nil:
		return "an unknown type"
	case v.keys == nil:
		return fmt.Sprint(v.typ)
	}
	out := []string{"bundle"}
	for _, key := range slices.Sorted(maps.Keys(v.keys)) {
		out = append(out, key, v.keys[key].String())
	}
	return strings.Join(out, " ")
}

// visit identifies a check of a template with a type.
type visit struct {
	name      string
	data      string
	addressed bool
}

type checker struct {
	set     *template.Template
	funcs   map[string]reflect.Type
	known   []Field
	visited map[visit]bool
	errs    []error
}

// template checks a template, unless it has been checked with the type.
func (c *checker) template(tree *parse.Tree, name string, data value) {
	this := visit{name, data.String(), data.addressed}
	if c.visited[this] {
		return
	}
	c.visited[this] = true
	f := &frame{checker: c, tree: tree, vars: []variable{{"$", data}}}
	f.walk(data, tree.Root)
}

// frame is one call of a template.
type frame struct {
	*checker

	tree *parse.Tree
	vars []variable
}

type variable struct {
	name  string
	value value
}

// fail reports an error at a node.
func (f *frame) fail(n parse.Node, format string, args ...any) value {
	at, context := f.tree.ErrorContext(n)
	f.errs = append(f.errs, fmt.Errorf("%s: %s: %s", at, context, fmt.Sprintf(format, args...)))
	return value{}
}

func (f *frame) walk(dot value, n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		for _, one := range n.Nodes {
			f.walk(dot, one)
		}
	case *parse.ActionNode:
		if v := f.pipe(dot, n.Pipe); len(n.Pipe.Decl) == 0 {
			f.print(n, v)
		}
	case *parse.IfNode:
		f.branch(dot, &n.BranchNode, func(value) value { return dot })
	case *parse.WithNode:
		f.branch(dot, &n.BranchNode, func(v value) value { return v })
	case *parse.RangeNode:
		f.loop(dot, n)
	case *parse.TemplateNode:
		f.call(dot, n)
	}
}

// print checks a value that is written.
func (f *frame) print(n parse.Node, v value) {
	switch {
	case v.absent:
		f.fail(n, "there is no such value")
	case v.typ != nil && (v.typ.Kind() == reflect.Func || v.typ.Kind() == reflect.Chan):
		f.fail(n, "cannot print %s", v)
	}
}

// branch checks an if or a with. in returns the dot of the first list.
func (f *frame) branch(dot value, n *parse.BranchNode, in func(value) value) {
	defer f.pop(len(f.vars))
	if v := f.pipe(dot, n.Pipe); !v.absent {
		f.scope(in(v), n.List)
	}
	f.scope(dot, n.ElseList)
}

// scope checks a list, whose variables end with it.
func (f *frame) scope(dot value, list *parse.ListNode) {
	if list == nil {
		return
	}
	defer f.pop(len(f.vars))
	f.walk(dot, list)
}

func (f *frame) pop(to int) { f.vars = f.vars[:to] }

func (f *frame) loop(dot value, n *parse.RangeNode) {
	defer f.pop(len(f.vars))
	mark := len(f.vars)
	over := f.pipe(dot, n.Pipe)
	if key, element, ok := elements(indirect(over), len(n.Pipe.Decl)); ok {
		switch vars := f.vars[mark:]; len(vars) {
		case 1:
			vars[0].value = element
		case 2:
			vars[0].value, vars[1].value = key, element
		}
		f.scope(element, n.List)
	} else if over.typ != nil {
		f.fail(n.Pipe, "cannot range over %s", over)
	}
	f.pop(mark)
	f.scope(dot, n.ElseList)
}

// elements returns the key and the element of a value in a range with a number of variables. It reports false if the
// value cannot be ranged over.
func elements(v value, vars int) (value, value, bool) {
	if v.typ == nil {
		return value{}, value{}, false
	}
	switch kind := v.typ.Kind(); {
	case kind == reflect.Slice || kind == reflect.Array:
		element := value{typ: v.typ.Elem(), addressed: v.addressed || kind == reflect.Slice}
		return value{typ: reflect.TypeFor[int]()}, element, true
	case kind == reflect.Map:
		return value{typ: v.typ.Key()}, value{typ: v.typ.Elem()}, true
	case kind >= reflect.Int && kind <= reflect.Uintptr:
		return value{}, v, vars < 2
	case kind != reflect.Func:
		return value{}, value{}, false
	case v.typ.CanSeq():
		return value{}, value{typ: v.typ.In(0).In(0)}, vars < 2
	case v.typ.CanSeq2() && vars < 2: // iterates over the first values
		return value{}, value{typ: v.typ.In(0).In(0)}, true
	case v.typ.CanSeq2():
		return value{typ: v.typ.In(0).In(0)}, value{typ: v.typ.In(0).In(1)}, true
	}
	return value{}, value{}, false
}

// call checks the call of a nested template.
func (f *frame) call(dot value, n *parse.TemplateNode) {
	data := value{absent: true}
	if n.Pipe != nil {
		data = f.pipe(dot, n.Pipe)
	}
	if t := f.set.Lookup(n.Name); t == nil || t.Tree == nil {
		f.fail(n, "there is no template %q", n.Name)
	} else if data.typ != nil || data.absent {
		f.template(t.Tree, n.Name, data)
	}
}

// pipe checks a pipeline and returns its value.
func (f *frame) pipe(dot value, n *parse.PipeNode) value {
	var v *value // of the command before
	for _, command := range n.Cmds {
		next := f.command(dot, command, v)
		v = &next
	}
	for _, d := range n.Decl {
		if name := d.Ident[0]; !n.IsAssign {
			f.vars = append(f.vars, variable{name, *v})
		} else if before := f.variable(d, name); before.typ != nil && v.typ != nil && before.typ != v.typ {
			f.fail(n, "%s has the type %s, and %s is assigned", name, before, v)
		}
	}
	return *v
}

func (f *frame) variable(n parse.Node, name string) value {
	for _, v := range slices.Backward(f.vars) {
		if v.name == name {
			return v.value
		}
	}
	return f.fail(n, "there is no variable %s", name)
}
