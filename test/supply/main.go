// Command supply tells what the program is made of: under which licences the modules of others may be used, which
// modules a built program holds, and whether the packages of the tests' tools are as their lock files say.
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

var errUsage = errors.New("usage: supply licences | supply packages | supply bill PROGRAM")

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "licences":
		return licences(os.Stdout)
	case len(args) == 1 && args[0] == "packages":
		return packages(os.Stdout, ".")
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
