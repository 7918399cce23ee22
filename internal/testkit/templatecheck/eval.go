package templatecheck

import (
	"reflect"
	"text/template/parse"
)

// command checks a command. final is the value that is piped into it, or nil.
func (f *frame) command(dot value, n *parse.CommandNode, final *value) value {
	args := n.Args[1:]
	switch first := n.Args[0].(type) {
	case *parse.FieldNode:
		return f.chain(dot, dot, first, first.Ident, args, final)
	case *parse.ChainNode:
		return f.chain(dot, f.arg(dot, first.Node), first, first.Field, args, final)
	case *parse.VariableNode:
		start := f.variable(first, first.Ident[0])
		if len(first.Ident) > 1 {
			return f.chain(dot, start, first, first.Ident[1:], args, final)
		}
		return f.plain(n, start, final)
	case *parse.IdentifierNode:
		return f.function(dot, first, args, final)
	default:
		return f.plain(n, f.arg(dot, first), final)
	}
}

// plain returns the value of a command that takes no arguments.
func (f *frame) plain(n *parse.CommandNode, v value, final *value) value {
	if len(n.Args) > 1 || final != nil {
		return f.fail(n, "arguments for something that is not a function")
	}
	return v
}

// arg returns the value of an argument, or of a command without arguments.
func (f *frame) arg(dot value, n parse.Node) value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.PipeNode:
		defer f.pop(len(f.vars))
		return f.pipe(dot, n)
	case *parse.NilNode:
		return value{absent: true}
	case *parse.BoolNode:
		return value{typ: reflect.TypeFor[bool]()}
	case *parse.StringNode:
		return value{typ: reflect.TypeFor[string]()}
	case *parse.NumberNode:
		if n.IsInt {
			return value{typ: reflect.TypeFor[int]()}
		}
		return value{typ: reflect.TypeFor[float64]()}
	default:
		return f.command(dot, &parse.CommandNode{NodeType: parse.NodeCommand, Args: []parse.Node{n}}, nil)
	}
}

// chain returns the value of .A.B.C. Only the last name may be a method with arguments.
func (f *frame) chain(dot, v value, n parse.Node, names []string, args []parse.Node, final *value) value {
	last := len(names) - 1
	for _, name := range names[:last] {
		v = f.field(dot, v, n, name, nil, nil)
	}
	return f.field(dot, v, n, names[last], args, final)
}

// indirect follows pointers.
func indirect(v value) value {
	for v.typ != nil && v.typ.Kind() == reflect.Pointer {
		v.typ, v.addressed = v.typ.Elem(), true
	}
	return v
}

// field returns the value of a method, a field, or an entry of a map.
func (f *frame) field(dot, in value, n parse.Node, name string, args []parse.Node, final *value) value {
	v := indirect(in)
	if v.typ == nil {
		return v
	}
	if m, ok := method(v, name); ok {
		return f.result(dot, n, name, m, args, final)
	}
	if len(args) > 0 || final != nil {
		return f.fail(n, "%s has no method %s", in, name)
	}
	switch v.typ.Kind() {
	case reflect.Struct:
		if s, ok := v.typ.FieldByName(name); ok && s.IsExported() {
			return f.structField(v, s)
		}
	case reflect.Map:
		if v.keys != nil {
			if found, ok := v.keys[name]; ok {
				return found
			}
			return value{absent: true}
		}
		if v.typ.Key().Kind() == reflect.String {
			return value{typ: v.typ.Elem()}
		}
	}
	return f.fail(n, "%s has no field or method %s", in, name)
}

func (f *frame) structField(v value, s reflect.StructField) value {
	for _, k := range f.known {
		if k.Struct == v.typ && k.Name == s.Name {
			return value{typ: k.Type, absent: k.Type == nil}
		}
	}
	return value{typ: s.Type, addressed: v.addressed}
}

// method returns the type of a method without its receiver.
func method(v value, name string) (reflect.Type, bool) {
	t := v.typ
	if v.addressed && t.Kind() != reflect.Interface {
		t = reflect.PointerTo(t)
	}
	m, ok := t.MethodByName(name)
	if !ok || t.Kind() == reflect.Interface {
		return m.Type, ok
	}
	var in, out []reflect.Type
	for p := range m.Type.Ins() {
		in = append(in, p)
	}
	for p := range m.Type.Outs() {
		out = append(out, p)
	}
	return reflect.FuncOf(in[1:], out, m.Type.IsVariadic()), true
}

// function returns the value of a function's call.
func (f *frame) function(dot value, n *parse.IdentifierNode, args []parse.Node, final *value) value {
	if t, ok := f.funcs[n.Ident]; ok && n.Ident != "bundle" {
		return f.result(dot, n, n.Ident, t, args, final)
	}
	if check, ok := builtins[n.Ident]; ok {
		return check(f, dot, n, args, final)
	}
	return f.fail(n, "there is no function %s", n.Ident)
}

// result checks the arguments of a function and returns its result.
func (f *frame) result(dot value, n parse.Node, name string, t reflect.Type, args []parse.Node, final *value) value {
	count, want := len(args), t.NumIn()
	if final != nil {
		count++
	}
	if t.IsVariadic() && count < want-1 || !t.IsVariadic() && count != want {
		return f.fail(n, "%s has %d arguments, want %d", name, count, want)
	}
	for i, arg := range args {
		f.assign(dot, arg, parameter(t, i))
	}
	if final != nil && !assignable(*final, parameter(t, len(args))) {
		f.fail(n, "cannot use %s as %s in a call of %s", final, parameter(t, len(args)), name)
	}
	if t.NumOut() == 0 || t.NumOut() > 2 {
		return f.fail(n, "%s has %d results", name, t.NumOut())
	}
	return value{typ: t.Out(0)}
}

// parameter returns the type of a function's parameter i.
func parameter(t reflect.Type, i int) reflect.Type {
	if last := t.NumIn() - 1; t.IsVariadic() && i >= last {
		return t.In(last).Elem()
	}
	return t.In(i)
}

// assign checks an argument. Literals have the type of the parameter, if it is of the same kind.
func (f *frame) assign(dot value, arg parse.Node, to reflect.Type) {
	ok := true
	switch n := arg.(type) {
	case *parse.StringNode:
		ok = to.Kind() == reflect.String || reflect.TypeFor[string]().AssignableTo(to)
	case *parse.BoolNode:
		ok = to.Kind() == reflect.Bool || reflect.TypeFor[bool]().AssignableTo(to)
	case *parse.NumberNode:
		ok = n.IsInt && to.Kind() >= reflect.Int && to.Kind() <= reflect.Uintptr ||
			n.IsFloat && (to.Kind() == reflect.Float32 || to.Kind() == reflect.Float64) || to.Kind() == reflect.Interface
	case *parse.NilNode:
		ok = to.Kind() == reflect.Pointer || to.Kind() == reflect.Interface || to.Kind() == reflect.Slice ||
			to.Kind() == reflect.Map
	default:
		if v := f.arg(dot, arg); !assignable(v, to) {
			f.fail(arg, "cannot use %s as %s", v, to)
		}
	}
	if !ok {
		f.fail(arg, "cannot use the literal as %s", to)
	}
}

// assignable reports whether a value can be an argument for a parameter. Pointers are followed and taken as necessary.
func assignable(v value, to reflect.Type) bool {
	switch {
	case v.absent:
		return false
	case v.typ == nil || v.typ.AssignableTo(to):
		return true
	case v.typ.Kind() == reflect.Interface:
		return to.Kind() == reflect.Interface || to.Implements(v.typ)
	case v.typ.Kind() == reflect.Pointer:
		return v.typ.Elem().AssignableTo(to)
	}
	return v.addressed && reflect.PointerTo(v.typ).AssignableTo(to)
}
