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

// unreachableReasons lists the codes and reasons that no current operation returns, and why. Once a test expects
// one, remove it from the list.
var unreachableReasons = map[string]string{
	"not_a_number":               "no operation takes a number that need not be whole",
	"not_expressible_in_a_query": "every argument of today's reads is a single value",
}

// postgresReasons lists codes that occur only with PostgreSQL, where a repeat waits in the database for the first
// call.
var postgresReasons = []string{"idempotency_key_in_progress"}

var seenReasons = struct {
	sync.Mutex
	names map[string]bool
}{names: map[string]bool{}}

// recordReason notes that a test expects a code and reason.
func recordReason(code, reason string) {
	seenReasons.Lock()
	defer seenReasons.Unlock()
	seenReasons.names[code] = true
	if reason != "" {
		seenReasons.names[reason] = true
	}
}

// TestMain checks after a full run that tests expect every code and reason.
func TestMain(m *testing.M) {
	flag.Parse()
	// Tests mostly wait for the server, so more tests run in parallel than there are CPUs.
	if flag.Lookup("test.parallel").Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))) // the flag exists and takes a number
	}
	code := m.Run()
	if ranAllTests() && code == 0 {
		if err := checkReasons(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// ranAllTests reports whether all tests were run.
func ranAllTests() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return flag.Lookup("test.count").Value.String() != "0" && flag.Lookup("test.short").Value.String() == "false"
}

func checkReasons() error {
	all, err := reasons("../../internal/apierr/apierr.go")
	if err != nil {
		return err
	}
	for name := range unreachableReasons {
		if !slices.Contains(all, name) {
			return fmt.Errorf("%s is in notYet, but is not a code or reason", name)
		}
		if seenReasons.names[name] {
			return fmt.Errorf("%s is expected by a test: remove it from notYet", name)
		}
	}
	postgres := os.Getenv("PRESSROOM_TEST_POSTGRES") != ""
	var missing []error
	for _, name := range all {
		if seenReasons.names[name] || unreachableReasons[name] != "" || !postgres && slices.Contains(postgresReasons, name) {
			continue
		}
		missing = append(missing, fmt.Errorf("no test expects %s, and it is not in notYet", name))
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
		return nil, fmt.Errorf("%s has only %d codes and reasons; look for them elsewhere", path, len(out))
	}
	return out, nil
}
