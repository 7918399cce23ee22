// Package archtest holds the tests of which package may import which. It has no code of its own: the rules, each
// with its reason, stand in arrows_test.go, the checker in checker_test.go.
package archtest
