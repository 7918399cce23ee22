package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pressroom.example/pressroom/internal/apicli"
)

// completionScripts holds the script of each shell. The scripts run `pressroom complete` to get completions.
var completionScripts = map[string]string{
	"bash": `_pressroom() {
  local IFS=$'\n'
  COMPREPLY=($(pressroom complete -- "${COMP_WORDS[@]:1:COMP_CWORD}"))
}
complete -o default -F _pressroom pressroom
`,
	"zsh": `#compdef pressroom
_pressroom() {
  local -a found
  found=("${(@f)$(pressroom complete -- "${(@)words[2,CURRENT]}")}")
  if [[ -n ${found[1]} ]]; then compadd -a found; else _files; fi
}
compdef _pressroom pressroom
`,
	"fish": `complete -c pressroom -a '(pressroom complete -- (commandline -opc)[2..-1] (commandline -ct))'
`,
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell: bash, zsh or fish."`
}

// Help returns the details of `pressroom completion --help`.
func (completionCmd) Help() string {
	return `bash: add this line to ~/.bashrc:

  source <(pressroom completion bash)

zsh: add this line to ~/.zshrc, after compinit:

  source <(pressroom completion zsh)

fish: run this command:

  pressroom completion fish > ~/.config/fish/completions/pressroom.fish`
}

// Run prints the script.
func (c completionCmd) Run() error {
	_, err := fmt.Print(completionScripts[c.Shell])
	return err
}

type completeCmd struct {
	Words []rawArg `arg:"" optional:""`
}

// Run prints the completions of the last word in Words, one per line.
func (c completeCmd) Run(k *kong.Kong) error {
	words := make([]string, 0, len(c.Words))
	for _, w := range c.Words {
		words = append(words, string(w))
	}
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		words = []string{""}
	}
	for _, candidate := range complete(k.Model.Node, splitValue(words)) {
		candidate = prefix(words) + candidate
		if _, err := fmt.Fprintln(os.Stdout, candidate); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// splitValue splits a flag with a value at the end of words into two words: the flag and the value. Bash passes
// --status=dr as three words, other shells as one.
func splitValue(words []string) []string {
	n := len(words)
	switch flag := prefix(words); {
	case flag != "":
		return append(slices.Clone(words[:n-1]), strings.TrimSuffix(flag, "="), strings.TrimPrefix(words[n-1], flag))
	case words[n-1] == "=":
		return append(slices.Clone(words[:n-1]), "")
	case n > 1 && words[n-2] == "=":
		return append(slices.Clone(words[:n-2]), words[n-1])
	}
	return words
}

// prefix returns the part of the last word before its value. For example, it returns --status= for --status=dr.
func prefix(words []string) string {
	flag, _, ok := strings.Cut(words[len(words)-1], "=")
	if !ok || !strings.HasPrefix(flag, "--") {
		return ""
	}
	return flag + "="
}

// complete returns the completions of the last word in words.
func complete(root *kong.Node, words []string) []string {
	node := root
	for len(words) > 1 {
		child := findChild(node, words[0])
		switch {
		case child != nil && child.Passthrough:
			return apicli.Complete(words[1:])
		case child != nil:
			node, words = child, words[1:]
		case node == root:
			return apicli.Complete(words)
		default: // after positional arguments and flags
			if values := flagValues(node, words[len(words)-2]); values != nil {
				return filterByPrefix(values, words[len(words)-1])
			}
			words = words[len(words)-1:]
		}
	}
	candidates := childNames(node)
	for _, p := range node.Positional {
		candidates = append(candidates, p.EnumSlice()...)
	}
	if node == root {
		candidates = append(candidates, resourceNames()...)
	}
	if strings.HasPrefix(words[0], "-") {
		candidates = flagNames(node)
	}
	return filterByPrefix(candidates, words[0])
}

func filterByPrefix(candidates []string, start string) []string {
	return slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, start) })
}

// flagValues returns the values that a flag accepts, if they are known.
func flagValues(node *kong.Node, flag string) []string {
	for _, flags := range node.AllFlags(true) {
		for _, f := range flags {
			if flag == "--"+f.Name && f.Enum != "" {
				return f.EnumSlice()
			}
		}
	}
	return nil
}

func findChild(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(c *kong.Node) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

func childNames(node *kong.Node) []string {
	var names []string
	for _, c := range node.Children {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

func flagNames(node *kong.Node) []string {
	var names []string
	for _, f := range node.Flags {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	}
	return names
}
