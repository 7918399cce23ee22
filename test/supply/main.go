// Command supply checks the licenses of dependencies, writes the bill of materials and the MCP bundle of a built
// program, and checks the packages of the test tools against their lock files.
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "supply: "+err.Error())
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: supply licences | supply packages | supply bill PROGRAM | supply bundle PROGRAM FILE")

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "licences":
		return licences(os.Stdout)
	case len(args) == 1 && args[0] == "packages":
		return packages(os.Stdout, ".")
	case len(args) == 3 && args[0] == "bundle":
		return bundle(".", args[1], args[2])
	case len(args) == 2 && args[0] == "bill":
		raw, err := bill(args[1])
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(raw)
		return err
	}
	return errUsage
}
