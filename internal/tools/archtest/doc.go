// Package archtest tests that packages import only permitted packages. The rules are in archtest_test.go, and the
// checker is in checker_test.go.
package archtest
