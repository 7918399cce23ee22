// Package operation says what an operation is: its declaration, its typed input and output, and the registry
// from which the REST routes, the tools, the description and the checks follow. It does no I/O.
package operation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"pressroom/internal/core/access"
)

// KeyRule says what an operation makes of an Idempotency-Key.
type KeyRule int

// The rules.
const (
	KeyRefused  KeyRule = iota // reads
	KeyOptional                // writes without money
	KeyRequired                // paid operations
)

// MaxKey is how many characters an Idempotency-Key of this rule may have.
func (r KeyRule) MaxKey() int {
	if r == KeyRequired {
		return 255
	}
	return 128
}

// Spec declares an operation.
type Spec struct {
	Tool        string // the name of the tool, and of the operation everywhere
	Method      string // HTTP method
	Path        string // below /api/v1, with {names} of arguments in braces
	Summary     string // a few words
	Description string // what it does and when to use it, for people and assistants
	Next        string // what comes after it, and what to do about the refusals to expect; told behind the description
	Needs       access.Capability
	Also        *Also
	Key         KeyRule
	Times       []string // arguments that are times, so that a repeat may write the same instant in another form
	Price       *Price
	Success     int // HTTP status of a success
	Again       *Again
	Ahead       *Ahead
	Uncounted   bool // never draws on the daily free-call allowance
	Networks    bool // reaches social networks
	Reaches     *Reaches
	Final       bool // replaces, ends or sends what no other call gives back
	Repeatable  bool // a write of which the same call again changes nothing more, without an Idempotency-Key too
	Urgent      bool // gets through on a node that is full: it is cheap, and ends something
	Waits       bool // may wait for work in the background, and tells by Call.Tell how far it is
	Resource    *Resource
	Listing     *Listing
	Example     Example
}

// Reaches is the condition under which a call of an operation reaches social networks, where not every one does.
type Reaches struct {
	holds func(context.Context, Call, []byte) (bool, error)
}

// ReachesWhen makes a Reaches whose condition is read from the team's own data.
func ReachesWhen[In any](holds func(context.Context, Call, In) (bool, error)) *Reaches {
	return &Reaches{holds: func(ctx context.Context, call Call, args []byte) (bool, error) {
		in, err := decode[In](args)
		if err != nil {
			return false, err
		}
		return holds(ctx, call, in)
	}}
}

// Also is a further capability that an operation needs under a condition.
type Also struct {
	Capability access.Capability
	When       string // the condition in words
	holds      func(context.Context, Call, []byte) (bool, error)
}

// When makes an Also whose condition is read from the team's own data.
func When[In any](c access.Capability, words string, holds func(context.Context, Call, In) (bool, error)) *Also {
	return &Also{Capability: c, When: words, holds: func(ctx context.Context, call Call, args []byte) (bool, error) {
		in, err := decode[In](args)
		if err != nil {
			return false, err
		}
		return holds(ctx, call, in)
	}}
}

// Ahead looks at what lies outside before a call's transaction begins: nobody's transaction waits for others' machines.
type Ahead struct {
	run func(context.Context, Call, []byte) error
}

// Beforehand makes an Ahead. What the function finds is Call.Ahead while the operation works, which refuses with it
// where it matters to this call.
func Beforehand[In any](look func(context.Context, Call, In) error) *Ahead {
	return &Ahead{run: func(ctx context.Context, call Call, args []byte) error {
		in, err := decode[In](args)
		if err != nil {
			return err
		}
		return look(ctx, call, in)
	}}
}

// LookAhead is what the operation's Ahead finds; nil where it has none.
func (op *Operation) LookAhead(ctx context.Context, call Call, args []byte) error {
	if op.Ahead == nil {
		return nil
	}
	return op.Ahead.run(ctx, call, args)
}

// Again makes the answer to a repeat: anew if the first one held what is not kept, or the first one with notes.
type Again struct {
	run func(context.Context, Call, []byte, Result) (Result, error)
}

// Afresh makes an Again. The function gets what was kept of the first answer's data.
func Afresh[In, Out any](answer func(ctx context.Context, call Call, in In, kept Out) (Answer[Out], error)) *Again {
	return &Again{run: func(ctx context.Context, call Call, args []byte, first Result) (Result, error) {
		in, err := decode[In](args)
		if err != nil {
			return Result{}, err
		}
		kept, err := keptData[Out](first)
		if err != nil {
			return Result{}, err
		}
		answer, err := answer(ctx, call, in, kept)
		return answer.erase(), err
	}}
}

// Noting makes an Again that gives the first answer with notes on what has changed since.
func Noting[Out any](notes func(ctx context.Context, call Call, kept Out) ([]string, error)) *Again {
	return &Again{run: func(ctx context.Context, call Call, _ []byte, first Result) (Result, error) {
		kept, err := keptData[Out](first)
		if err != nil {
			return Result{}, err
		}
		more, err := notes(ctx, call, kept)
		first.Notes = append(first.Notes, more...)
		return first, err
	}}
}

func keptData[Out any](first Result) (Out, error) {
	var kept Out
	raw, ok := first.Data.(json.RawMessage)
	if !ok {
		return kept, errors.New("a repeat has no kept answer")
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return kept, fmt.Errorf("reading what was kept of an answer: %w", err)
	}
	return kept, nil
}

// Example is one call of an operation, shown in the description and checked against the schemas.
type Example struct {
	Arguments map[string]any // by name, path arguments too
	Data      any            // what data holds in the answer, of the operation's output type
}

// Operation is a declared operation with its types erased.
type Operation struct {
	Spec
	Input      *jsonschema.Schema            // the arguments, as one object
	Output     *jsonschema.Schema            // data of the answer
	OutputName string                        // the component that Output is
	Within     map[string]*jsonschema.Schema // the components that Output refers to, by name
	InPath     []string                      // names of the arguments in the path, in its order
	patterns   patterns
	run        func(context.Context, Call, []byte) (Result, error)
}

// Define makes an operation from its declaration and the function that does it. A bad declaration panics, so
// that the program does not start with it.
func Define[In, Out any](spec Spec, do func(context.Context, Call, In) (Answer[Out], error)) Operation {
	op := Operation{Spec: spec, Input: inputSchema(reflect.TypeFor[In]()), OutputName: reflect.TypeFor[Out]().Name()}
	op.Output, op.Within = outputSchemas(reflect.TypeFor[Out]())
	op.run = func(ctx context.Context, call Call, args []byte) (Result, error) {
		in, err := decode[In](args)
		if err != nil {
			return Result{}, err
		}
		answer, err := do(ctx, call, in)
		if err != nil {
			return Result{}, err
		}
		return answer.erase(), nil
	}
	op.InPath = braces(spec.Path)
	for _, name := range op.InPath {
		if p := op.Input.Properties[name]; p != nil && p.Type == "integer" && p.Minimum == nil {
			p.Minimum = new(0.0) // the form that PathFits demands of an address
		}
	}
	op.patterns = compilePatterns(op.Input)
	op.mustBeSound()
	return op
}

// Run does the work of the operation with arguments that Check has passed.
func (op *Operation) Run(ctx context.Context, call Call, args []byte) (Result, error) {
	return op.run(ctx, call, args)
}

// Repeat answers a repeat of an earlier call with the first result, or with what the operation's Again makes of it.
func (op *Operation) Repeat(ctx context.Context, call Call, args []byte, first Result) (Result, error) {
	if op.Again == nil {
		return first, nil
	}
	return op.Again.run(ctx, call, args, first)
}

// AlsoHolds tells whether the condition of the further capability holds for these arguments.
func (op *Operation) AlsoHolds(ctx context.Context, call Call, args []byte) (bool, error) {
	return op.Also.holds(ctx, call, args)
}

// ReachesNetworks tells whether a call with these arguments reaches social networks.
func (op *Operation) ReachesNetworks(ctx context.Context, call Call, args []byte) (bool, error) {
	if op.Networks || op.Reaches == nil {
		return op.Networks, nil
	}
	return op.Reaches.holds(ctx, call, args)
}

// Told is the whole description: what it does, what comes after it, and what refusals to expect.
func (op *Operation) Told() string { return strings.TrimSpace(op.Description + " " + op.Next) }

// Reads tells whether the operation changes nothing.
func (op *Operation) Reads() bool { return op.Method == "GET" }

func (op *Operation) mustBeSound() {
	fail := func(what string) { panic(fmt.Sprintf("operation %q: %s", op.Tool, what)) }
	switch {
	case op.Tool == "" || op.Summary == "" || op.Description == "":
		fail("no name, summary or description")
	case !strings.HasPrefix(op.Path, "/"):
		fail("path does not begin with a slash")
	case op.Needs == "":
		fail("no capability")
	case op.Success < 200 || op.Success > 299:
		fail("no success status")
	case op.Reads() != (op.Key == KeyRefused):
		fail("a read refuses an Idempotency-Key, every other operation takes one")
	case op.Paid() && len(op.Times) > 0:
		fail("requests of a paid operation are told apart by their text, so it takes no times")
	case op.Paid() != (op.Key == KeyRequired) || op.Paid() && op.Needs != access.Spend:
		fail("what is paid needs the capability spend and an Idempotency-Key, and nothing else does")
	}
	op.mustFit(fail)
}

// mustFit holds what the declaration says of arguments and answers against the types.
func (op *Operation) mustFit(fail func(what string)) {
	for _, name := range op.InPath {
		if op.Input.Properties[name] == nil {
			fail("path argument " + name + " is not in the input")
		}
	}
	for _, name := range op.Times {
		if p := op.Input.Properties[name]; p == nil || typeOf(p) != "string" {
			fail("its time " + name + " is no text argument")
		}
	}
	switch {
	case op.Reads() && (op.Final || op.Repeatable):
		fail("a read changes nothing, so that it need not say what a repeat does")
	case op.Resource != nil && !slices.Equal(braces(op.Resource.Address), op.InPath):
		fail("the address of its resource takes other arguments than its path")
	case op.Listing != nil && op.Output.Properties[op.Listing.Member] == nil:
		fail("what it lists is not in its output")
	}
}

var brace = regexp.MustCompile(`\{([a-z_]+)\}`)

func braces(path string) []string {
	var names []string
	for _, m := range brace.FindAllStringSubmatch(path, -1) {
		names = append(names, m[1])
	}
	return names
}

func decode[In any](args []byte) (In, error) {
	var in In
	if len(args) == 0 {
		return in, nil
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return in, fmt.Errorf("decoding checked arguments: %w", err)
	}
	return in, nil
}

// TakesBody tells whether the operation has arguments beyond those of its path.
func (op *Operation) TakesBody() bool { return len(op.Input.Properties) > len(op.InPath) }

// NeedsBody tells whether one of those arguments is required.
func (op *Operation) NeedsBody() bool {
	return slices.ContainsFunc(op.Input.Required, func(name string) bool { return !slices.Contains(op.InPath, name) })
}

var integerInPath = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})$`)

// PathFits tells whether a text has the form of an argument of the path.
func (op *Operation) PathFits(name, text string) bool {
	s := op.Input.Properties[name]
	switch {
	case s.Type == "integer":
		return integerInPath.MatchString(text)
	case len(s.Enum) > 0:
		return slices.Contains(s.Enum, any(text))
	case op.patterns[s] != nil:
		return op.patterns[s].MatchString(text)
	}
	return text != ""
}

// PathValue reads an argument of the path as its kind.
func (op *Operation) PathValue(name, text string) any {
	return queryValue(text, op.Input.Properties[name])
}
