package templatecheck

import (
	"reflect"
	"slices"
	"text/template/parse"
)

// builtins has the functions of text/template, and bundle, whose result depends on the arguments.
var builtins map[string]func(f *frame, dot value, n parse.Node, args []parse.Node, final *value) value

func init() { //nolint:gochecknoinits // the functions use the table
	text, truth := result[string], result[bool]
	builtins = map[string]func(*frame, value, parse.Node, []parse.Node, *value) value{
		"and": and, "or": or, "not": truth, "len": length, "index": index, "slice": slice, "bundle": bundle,
		"print": text, "printf": text, "println": text, "html": text, "js": text, "urlquery": text,
		"eq": compare, "ne": compare, "lt": compare, "le": compare, "gt": compare, "ge": compare,
	}
}

// values returns the values of all arguments.
func (f *frame) values(dot value, args []parse.Node, final *value) []value {
	var out []value
	for _, arg := range args {
		out = append(out, f.arg(dot, arg))
	}
	if final != nil {
		out = append(out, *final)
	}
	return out
}

// result is a function that takes all arguments.
func result[T any](f *frame, dot value, n parse.Node, args []parse.Node, final *value) value {
	if len(f.values(dot, args, final)) == 0 {
		return f.fail(n, "no arguments")
	}
	return value{typ: reflect.TypeFor[T]()}
}

// and returns the type of the last argument. The value of another one is used only if it is false.
func and(f *frame, dot value, _ parse.Node, args []parse.Node, final *value) value {
	var last value
	for _, arg := range args {
		if last = f.arg(dot, arg); last.absent {
			return last
		}
	}
	if final != nil {
		return *final
	}
	return last
}

// or returns the type of the arguments, or any if they have several types.
func or(f *frame, dot value, _ parse.Node, args []parse.Node, final *value) value {
	out := value{absent: true}
	for _, v := range f.values(dot, args, final) {
		switch {
		case v.absent:
		case v.typ == nil || out.absent:
			out = v
		case out.typ != v.typ:
			out = value{typ: reflect.TypeFor[any]()}
		}
	}
	return out
}

var kindsWithLen = []reflect.Kind{reflect.Slice, reflect.Map, reflect.Array, reflect.String, reflect.Chan}

func length(f *frame, dot value, n parse.Node, args []parse.Node, final *value) value {
	for _, v := range f.values(dot, args, final) {
		switch v = indirect(v); {
		case v.absent:
			f.fail(n, "len of no value")
		case v.typ == nil:
		case !slices.Contains(kindsWithLen, v.typ.Kind()):
			f.fail(n, "len of %s", v)
		}
	}
	return value{typ: reflect.TypeFor[int]()}
}

func index(f *frame, dot value, n parse.Node, args []parse.Node, final *value) value {
	all := f.values(dot, args, final)
	v := indirect(all[0])
	for range all[1:] {
		if v.typ == nil {
			return v
		}
		switch v.typ.Kind() {
		case reflect.Map:
			v = value{typ: v.typ.Elem()}
		case reflect.Slice, reflect.Array:
			v = value{typ: v.typ.Elem(), addressed: v.addressed || v.typ.Kind() == reflect.Slice}
		case reflect.String:
			v = value{typ: reflect.TypeFor[byte]()}
		default:
			return f.fail(n, "cannot index %s", v)
		}
	}
	return v
}

func slice(f *frame, dot value, n parse.Node, args []parse.Node, final *value) value {
	v := indirect(f.values(dot, args, final)[0])
	switch {
	case v.absent:
		return f.fail(n, "slice of no value")
	case v.typ != nil && v.typ.Kind() != reflect.Slice && v.typ.Kind() != reflect.String:
		return f.fail(n, "cannot slice %s", v)
	}
	return v
}

// compare checks that the arguments of a comparison are of the same basic kind.
func compare(f *frame, dot value, n parse.Node, args []parse.Node, final *value) value {
	all := f.values(dot, args, final)
	if len(all) < 2 {
		f.fail(n, "a comparison needs two values")
	}
	for _, v := range all[min(1, len(all)):] {
		first := all[0]
		switch {
		case v.absent || first.absent:
			f.fail(n, "there is no such value")
		case v.typ == nil || first.typ == nil || isInterface(v) || isInterface(first):
		case basic(v) != basic(first) || basic(v) == "" && v.typ != first.typ:
			f.fail(n, "cannot compare %s and %s", first, v)
		}
	}
	return value{typ: reflect.TypeFor[bool]()}
}

func isInterface(v value) bool { return v.typ.Kind() == reflect.Interface }

// basic returns the kind of a value in comparisons, or "" for values that are only compared with their own type.
func basic(v value) string {
	switch k := v.typ.Kind(); {
	case k >= reflect.Int && k <= reflect.Uintptr:
		return "integer"
	case k == reflect.Float32 || k == reflect.Float64:
		return "float"
	case k == reflect.String || k == reflect.Bool:
		return k.String()
	}
	return ""
}

// bundle returns a map with the types of its values.
func bundle(f *frame, dot value, n parse.Node, args []parse.Node, final *value) value {
	if len(args)%2 != 0 || final != nil {
		return f.fail(n, "bundle has an odd number of arguments")
	}
	out := value{typ: reflect.TypeFor[map[string]any](), keys: map[string]value{}}
	for i := 0; i < len(args); i += 2 {
		name, ok := args[i].(*parse.StringNode)
		if !ok {
			return f.fail(args[i], "the name is not a literal")
		}
		out.keys[name.Text] = f.arg(dot, args[i+1])
		if v := out.keys[name.Text]; v.addressed && v.typ.Kind() != reflect.Pointer {
			v.addressed = false // a map has copies
			out.keys[name.Text] = v
		}
	}
	return out
}
