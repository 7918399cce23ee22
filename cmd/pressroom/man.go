package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pressroom.example/pressroom/internal/apicli"
	"pressroom.example/pressroom/internal/apicli/manpage"
)

type manCmd struct {
	Page      string `arg:"" optional:"" help:"Command or resource, such as serve or posts. If omitted, the page of the program."`
	Directory string `help:"Write all pages to files in this folder, such as pressroom-serve.1." type:"path"`
}

// Help returns the details of `pressroom man --help`.
func (manCmd) Help() string {
	return `The pages are generated from the definitions of the commands. To read a page:

  pressroom man serve | man -l -

To install all pages for your user:

  pressroom man --directory ~/.local/share/man/man1`
}

// Run prints or writes pages.
func (c manCmd) Run(k *kong.Kong) error {
	pages := manPages(k.Model.Node)
	if c.Directory == "" {
		name := strings.TrimSuffix("pressroom-"+c.Page, "-")
		page := pages[name]
		if page == nil {
			return fmt.Errorf("there is no manual page %s%s", name, apicli.Suggestion(name, pageNames(pages)))
		}
		_, err := fmt.Print(page)
		return err
	}
	if err := os.MkdirAll(c.Directory, 0o755); err != nil { //nolint:gosec // manuals are public
		return fmt.Errorf("creating the folder for manual pages: %w", err)
	}
	for name, page := range pages {
		path := filepath.Join(c.Directory, name+".1")
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil { //nolint:gosec // as above
			return fmt.Errorf("writing a manual page: %w", err)
		}
	}
	return nil
}

// manPages returns the manual pages by name: for the program, for each command and for each resource.
func manPages(root *kong.Node) map[string]*manpage.Page {
	pages := map[string]*manpage.Page{"pressroom-call": apicli.CallManPage(version)}
	for _, r := range apicli.Resources() {
		pages["pressroom-"+r.Name] = apicli.ManPage(r, version)
	}
	for _, c := range root.Children {
		if name := "pressroom-" + c.Name; !c.Hidden && pages[name] == nil {
			pages[name] = commandPage(name, c)
		}
	}
	pages["pressroom"] = programPage(root, pageNames(pages))
	return pages
}

func programPage(root *kong.Node, others []string) *manpage.Page {
	p := manpage.New("pressroom", "draft, schedule and publish posts on social networks", version)
	p.Section("SYNOPSIS")
	p.Synopsis("pressroom", "COMMAND [FLAGS]")
	p.Synopsis("pressroom", "RESOURCE VERB [ID...] [--ARGUMENT VALUE...]")
	p.Section("DESCRIPTION")
	p.Text(root.Help)
	p.Section("COMMANDS")
	for _, c := range root.Children {
		if !c.Hidden {
			p.Item("pressroom "+c.Name, "", c.Help)
		}
	}
	addFlags(p, "OPTIONS", root)
	p.Section("SEE ALSO")
	p.Text(strings.Join(others, "(1), ") + "(1)")
	return p
}

func pageNames(pages map[string]*manpage.Page) []string {
	var names []string
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// commandPage returns the page of a command and its subcommands.
func commandPage(name string, command *kong.Node) *manpage.Page {
	p := manpage.New(name, strings.ToLower(command.Help[:1])+command.Help[1:], version)
	p.Section("SYNOPSIS")
	leaves := leavesOf(command)
	for _, leaf := range leaves {
		p.Synopsis(usage(leaf))
	}
	p.Section("DESCRIPTION")
	p.Text(command.Help + "\n\n" + command.Detail)
	addFlags(p, "OPTIONS", command)
	if len(command.Children) > 0 {
		p.Section("COMMANDS")
		for _, leaf := range leaves {
			path, arguments := usage(leaf)
			p.Subsection(path + " " + arguments)
			p.Text(leaf.Help + "\n\n" + leaf.Detail)
			addFlags(p, "", leaf)
		}
	}
	p.Section("SEE ALSO")
	p.Text("pressroom(1)")
	return p
}

func leavesOf(node *kong.Node) []*kong.Node {
	if len(node.Children) == 0 {
		return []*kong.Node{node}
	}
	var leaves []*kong.Node
	for _, c := range node.Children {
		if !c.Hidden {
			leaves = append(leaves, leavesOf(c)...)
		}
	}
	return leaves
}

// usage returns a command and its arguments.
func usage(node *kong.Node) (string, string) {
	var arguments []string
	for _, a := range node.Positional {
		text := "<" + a.Name + ">"
		if !a.Required {
			text = "[" + text + "]"
		}
		arguments = append(arguments, text)
	}
	path := node.Name
	for at := node.Parent; at != nil; at = at.Parent {
		path = at.Name + " " + path
	}
	return path, strings.Join(append(arguments, "[FLAGS]"), " ")
}

// addFlags adds the positional arguments and flags of a command to a page. If title is not empty, it adds a title
// first.
func addFlags(p *manpage.Page, title string, node *kong.Node) {
	if title != "" && len(node.Positional)+len(node.Flags) > 0 {
		p.Section(title)
	}
	for _, a := range node.Positional {
		p.Item("<"+a.Name+">", "", a.Help)
	}
	for _, f := range node.Flags {
		if f.Hidden {
			continue
		}
		term, value := "--"+f.Name, ""
		if f.Short != 0 {
			term = "-" + string(f.Short) + ", " + term
		}
		if !f.IsBool() {
			value = "=" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		}
		text := f.Help
		if f.HasDefault && f.Default != "" {
			text += " Default: " + f.Default + "."
		}
		if len(f.Envs) > 0 {
			text += " Environment: " + strings.Join(f.Envs, ", ") + "."
		}
		p.Item(term, value, text)
	}
}
