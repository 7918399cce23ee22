// Package archtest tests which package may import which. The rules are in archtest_test.go, the checker in
// checker_test.go.
package archtest
