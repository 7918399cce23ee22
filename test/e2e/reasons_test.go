package e2e

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// notYet are the codes and reasons that no operation of today can answer with, each with why. Once one is met
// it has to leave this list.
var notYet = map[string]string{
	"not_a_number":               "no operation takes a number that need not be whole",
	"not_expressible_in_a_query": "every argument of today's reads is a single value",
}

// onPostgres are returned only with PostgreSQL, where a repeat waits for the first call in the database.
var onPostgres = []string{"idempotency_key_in_progress"}

var seen = struct {
	sync.Mutex
	names map[string]bool
}{names: map[string]bool{}}

// recordReason notes that a test expects a code and reason.
func recordReason(code, reason string) {
	seen.Lock()
	defer seen.Unlock()
	seen.names[code] = true
	if reason != "" {
		seen.names[reason] = true
	}
}

// TestMain checks after a full run that some test expects each code and reason.
func TestMain(m *testing.M) {
	flag.Parse()
	// Tests mostly wait for the program, so running only as many as there are processors would leave them idle.
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))) // the flag exists and takes a number
	}
	code := m.Run()
	if everything() && code == 0 {
		if err := everyReasonMet(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// everything reports whether all tests were run.
func everything() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return flag.Lookup("test.count").Value.String() != "0" && flag.Lookup("test.short").Value.String() == "false"
}

func everyReasonMet() error {
	all, err := reasons("../../internal/apierr/apierr.go")
	if err != nil {
		return err
	}
	for name := range notYet {
		if !slices.Contains(all, name) {
			return fmt.Errorf("%s is excused but is no code or reason", name)
		}
		if seen.names[name] {
			return fmt.Errorf("%s is met by a test now: take it off the list of those that cannot be", name)
		}
	}
	postgres := os.Getenv("PRESSROOM_TEST_POSTGRES") != ""
	var missing []error
	for _, name := range all {
		if seen.names[name] || notYet[name] != "" || !postgres && slices.Contains(onPostgres, name) {
			continue
		}
		missing = append(missing, fmt.Errorf("no test demands %s, and nothing says why", name))
	}
	return errors.Join(missing...)
}

// reasons reads the constants of package apierr: the codes, and the reasons of validation_failed.
func reasons(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, value := range spec.Values {
			if text, ok := value.(*ast.BasicLit); ok && text.Kind == token.STRING {
				if plain, err := strconv.Unquote(text.Value); err == nil {
					out = append(out, plain)
				}
			}
		}
		return true
	})
	if len(out) < 50 {
		return nil, fmt.Errorf("%s holds %d codes and reasons: they have moved", path, len(out))
	}
	return out, nil
}
