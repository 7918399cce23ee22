// Package operation defines operations: their declaration, their typed input and output, and the registry. The REST
// routes, the MCP tools and the OpenAPI document are generated from the registry. The package does not perform I/O.
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

	"pressroom.example/pressroom/internal/core/access"
)

// KeyRule determines whether an operation accepts or requires an Idempotency-Key.
type KeyRule int

// The rules.
const (
	KeyRejected KeyRule = iota // reads reject a key
	KeyOptional                // free writes accept a key
	KeyRequired                // paid operations require a key
)

// MaxKey returns the maximum number of characters in an Idempotency-Key.
func (r KeyRule) MaxKey() int {
	if r == KeyRequired {
		return 255
	}
	return 128
}

// Spec declares an operation.
type Spec struct {
	Tool                  string // name of the operation and its tool
	Method                string // HTTP method
	Path                  string // path below /api/v1, with arguments in braces
	Summary               string // title of a few words
	Description           string // what it does and when to use it, for people and assistants
	Next                  string // what to do next and how to handle expected errors; appended to the description
	Needs                 access.Capability
	ConditionalCapability *ConditionalCapability
	Key                   KeyRule
	Times                 []string // arguments that are times; a repeat may write the same instant in another form
	Price                 *Price
	Success               int // HTTP status of a successful response
	OnRepeat              *Repeat
	BeforeTx              *BeforeTx
	Unmetered             bool // does not count toward the daily allowance of free calls
	Networks              bool // every call reaches social networks
	NetworkCondition      *NetworkCondition
	Destructive           bool // has effects that cannot be undone by another call (MCP: destructiveHint)
	Idempotent            bool // is idempotent even without an Idempotency-Key (MCP: idempotentHint)
	Urgent                bool // does not take a slot on the node, because it is cheap and frees capacity
	MayWait               bool // may wait for background work and reports its progress to Call.OnProgress
	Resource              *Resource
	Listing               *Listing
	Variants              *Variants
	Example               Example
}

// NetworkCondition is a condition under which a call reaches social networks.
type NetworkCondition struct {
	holds func(context.Context, Call, []byte) (bool, error)
}

// NewNetworkCondition returns a NetworkCondition. holds may depend only on the arguments and the team's own data.
func NewNetworkCondition[In any](holds func(context.Context, Call, In) (bool, error)) *NetworkCondition {
	return &NetworkCondition{holds: func(ctx context.Context, call Call, args []byte) (bool, error) {
		in, err := decode[In](args)
		if err != nil {
			return false, err
		}
		return holds(ctx, call, in)
	}}
}

// ConditionalCapability is an additional capability that an operation needs under a condition.
type ConditionalCapability struct {
	Capability access.Capability
	When       string // the condition in words
	holds      func(context.Context, Call, []byte) (bool, error)
}

// NewConditionalCapability returns a ConditionalCapability. holds may depend only on the arguments and the team's own
// data.
func NewConditionalCapability[In any](c access.Capability, when string, holds func(context.Context, Call, In) (bool,
	error)) *ConditionalCapability {
	return &ConditionalCapability{Capability: c, When: when, holds: func(ctx context.Context, call Call,
		args []byte) (bool, error) {
		in, err := decode[In](args)
		if err != nil {
			return false, err
		}
		return holds(ctx, call, in)
	}}
}

// BeforeTx is a step that runs before a call's transaction. In this step, an operation can call other systems without
// delaying the transaction.
type BeforeTx struct {
	run func(context.Context, Call, []byte) error
}

// NewBeforeTx returns a BeforeTx that runs step. The error that step returns becomes Call.BeforeTxErr, which the
// operation handles.
func NewBeforeTx[In any](step func(context.Context, Call, In) error) *BeforeTx {
	return &BeforeTx{run: func(ctx context.Context, call Call, args []byte) error {
		in, err := decode[In](args)
		if err != nil {
			return err
		}
		return step(ctx, call, in)
	}}
}

// RunBeforeTx runs the operation's BeforeTx, if it has one, and returns its error.
func (op *Operation) RunBeforeTx(ctx context.Context, call Call, args []byte) error {
	if op.BeforeTx == nil {
		return nil
	}
	return op.BeforeTx.run(ctx, call, args)
}

// Repeat creates the result of a repeat from the stored result. A repeat is a call with the Idempotency-Key of an
// earlier call.
type Repeat struct {
	run func(context.Context, Call, []byte, Result) (Result, error)
}

// Recreate returns a Repeat that creates a new result from the stored data of the first result.
func Recreate[In, Out any](respond func(ctx context.Context, call Call, in In, stored Out) (Response[Out], error)) *Repeat {
	return &Repeat{run: func(ctx context.Context, call Call, args []byte, first Result) (Result, error) {
		in, err := decode[In](args)
		if err != nil {
			return Result{}, err
		}
		stored, err := decodeData[Out](first)
		if err != nil {
			return Result{}, err
		}
		respond, err := respond(ctx, call, in, stored)
		return respond.erase(), err
	}}
}

// WithNotes returns a Repeat that adds notes about later changes to the first result.
func WithNotes[Out any](notes func(ctx context.Context, call Call, stored Out) ([]string, error)) *Repeat {
	return &Repeat{run: func(ctx context.Context, call Call, _ []byte, first Result) (Result, error) {
		stored, err := decodeData[Out](first)
		if err != nil {
			return Result{}, err
		}
		newNotes, err := notes(ctx, call, stored)
		first.Notes = append(first.Notes, newNotes...)
		return first, err
	}}
}

func decodeData[Out any](first Result) (Out, error) {
	var stored Out
	raw, ok := first.Data.(json.RawMessage)
	if !ok {
		return stored, errors.New("a repeat has no stored result")
	}
	if err := json.Unmarshal(raw, &stored); err != nil {
		return stored, fmt.Errorf("decoding a stored result: %w", err)
	}
	return stored, nil
}

// Example is an example call for the OpenAPI document. It is checked against the schemas.
type Example struct {
	Arguments map[string]any // including the arguments in the path
	Data      any            // the result's Data, with the operation's output type
}

// Operation is a declared operation without its type parameters.
type Operation struct {
	Spec
	Input      *jsonschema.Schema            // schema of the arguments, as one object
	Output     *jsonschema.Schema            // schema of the result's Data
	OutputName string                        // name of Output's component
	Components map[string]*jsonschema.Schema // components that Output refers to, by name
	InPath     []string                      // names of the arguments in the path, in order
	patterns   patterns
	run        func(context.Context, Call, []byte) (Result, error)
}

// Define returns an operation from its declaration and implementation. It panics if the declaration is invalid.
func Define[In, Out any](spec Spec, fn func(context.Context, Call, In) (Response[Out], error)) Operation {
	op := Operation{Spec: spec, Input: inputSchema(reflect.TypeFor[In]()), OutputName: reflect.TypeFor[Out]().Name()}
	op.Output, op.Components = outputSchemas(reflect.TypeFor[Out]())
	op.addVariants()
	op.run = func(ctx context.Context, call Call, args []byte) (Result, error) {
		in, err := decode[In](args)
		if err != nil {
			return Result{}, err
		}
		response, err := fn(ctx, call, in)
		if err != nil {
			return Result{}, err
		}
		return response.erase(), nil
	}
	op.InPath = pathArguments(spec.Path)
	for _, name := range op.InPath {
		if p := op.Input.Properties[name]; p != nil && p.Type == "integer" && p.Minimum == nil {
			p.Minimum = new(0.0) // see pathInteger
		}
	}
	op.patterns = compilePatterns(op.Input)
	op.mustBeValid()
	return op
}

// Run runs the operation with arguments from Check.
func (op *Operation) Run(ctx context.Context, call Call, args []byte) (Result, error) {
	return op.run(ctx, call, args)
}

// Repeat returns the result of a repeat. That is the first result or, if the operation has OnRepeat, the result that
// OnRepeat creates.
func (op *Operation) Repeat(ctx context.Context, call Call, args []byte, first Result) (Result, error) {
	if op.OnRepeat == nil {
		return first, nil
	}
	return op.OnRepeat.run(ctx, call, args, first)
}

// NeedsConditionalCapability reports whether the call needs the capability in ConditionalCapability, which must not be
// nil.
func (op *Operation) NeedsConditionalCapability(ctx context.Context, call Call, args []byte) (bool, error) {
	return op.ConditionalCapability.holds(ctx, call, args)
}

// ReachesNetworks reports whether a call with the given arguments reaches social networks.
func (op *Operation) ReachesNetworks(ctx context.Context, call Call, args []byte) (bool, error) {
	if op.Networks || op.NetworkCondition == nil {
		return op.Networks, nil
	}
	return op.NetworkCondition.holds(ctx, call, args)
}

// FullDescription returns Description followed by Next.
func (op *Operation) FullDescription() string {
	return strings.TrimSpace(op.Description + " " + op.Next)
}

// Reads reports whether the operation only reads data. Operations that only read have the method GET.
func (op *Operation) Reads() bool { return op.Method == "GET" }

func (op *Operation) mustBeValid() {
	fail := func(problem string) { panic(fmt.Sprintf("operation %q: %s", op.Tool, problem)) }
	switch {
	case op.Tool == "" || op.Summary == "" || op.Description == "":
		fail("it needs a name, a summary and a description")
	case !strings.HasPrefix(op.Path, "/"):
		fail("its path must begin with a slash")
	case op.Needs == "":
		fail("it needs a capability")
	case op.Success < 200 || op.Success > 299:
		fail("it needs a success status")
	case op.Reads() != (op.Key == KeyRejected):
		fail("a read must reject an Idempotency-Key, and every other operation must accept one")
	case op.IsPaid() && len(op.Times) > 0:
		fail("a paid operation cannot have times, because its requests are compared by their text")
	case op.IsPaid() != (op.Key == KeyRequired) || op.IsPaid() && op.Needs != access.Spend:
		fail("an operation must require the capability spend and an Idempotency-Key if, and only if, it is paid")
	}
	op.mustMatchTypes(fail)
}

// mustMatchTypes checks that the declaration matches the types of the input and the output.
func (op *Operation) mustMatchTypes(fail func(what string)) {
	for _, name := range op.InPath {
		if op.Input.Properties[name] == nil {
			fail("path argument " + name + " is not in the input")
		}
	}
	for _, name := range op.Times {
		if p := op.Input.Properties[name]; p == nil || schemaType(p) != "string" {
			fail("its time " + name + " is not a string argument")
		}
	}
	switch {
	case op.Reads() && (op.Destructive || op.Idempotent):
		fail("a read cannot be destructive or idempotent")
	case op.Resource != nil && !slices.Equal(pathArguments(op.Resource.Address), op.InPath):
		fail("the arguments of its resource's address differ from those of its path")
	case op.Listing != nil && op.Output.Properties[op.Listing.Member] == nil:
		fail("the member of its listing is not in the output")
	}
}

var pathArgument = regexp.MustCompile(`\{([a-z_]+)\}`)

func pathArguments(path string) []string {
	var names []string
	for _, m := range pathArgument.FindAllStringSubmatch(path, -1) {
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

// TakesBody reports whether the operation has arguments other than the arguments in its path.
func (op *Operation) TakesBody() bool { return len(op.Input.Properties) > len(op.InPath) }

// NeedsBody reports whether an argument that is not in the path is required.
func (op *Operation) NeedsBody() bool {
	return slices.ContainsFunc(op.Input.Required, func(name string) bool { return !slices.Contains(op.InPath, name) })
}

var pathInteger = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})$`)

// IsValidPathArgument reports whether a text has the format of the path argument with the given name.
func (op *Operation) IsValidPathArgument(name, text string) bool {
	s := op.Input.Properties[name]
	switch {
	case s.Type == "integer":
		return pathInteger.MatchString(text)
	case len(s.Enum) > 0:
		return slices.Contains(s.Enum, any(text))
	case op.patterns[s] != nil:
		return op.patterns[s].MatchString(text)
	}
	return text != ""
}

// PathValue converts the text of a path argument to the argument's type.
func (op *Operation) PathValue(name, text string) any {
	return parseQueryValue(text, op.Input.Properties[name])
}
