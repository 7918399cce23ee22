package apicli

import (
	"strings"

	"pressroom.example/pressroom/internal/apicli/manpage"
)

// ManPage returns the manual page for a resource, with all its verbs.
func ManPage(r Resource, version string) *manpage.Page {
	p := manpage.New("pressroom-"+r.Name, "call the operations of "+r.Name, version)
	p.Section("SYNOPSIS")
	for _, v := range r.Verbs {
		p.Synopsis("pressroom "+r.Name+" "+v.Name, strings.TrimSpace(positionalPlaceholders(v.Operation)+" [--ARGUMENT VALUE...]"))
	}
	p.Section("DESCRIPTION")
	p.Text("Each verb is an API operation. For common flags and exit statuses, see pressroom-call(1).")
	p.Section("VERBS")
	for _, v := range r.Verbs {
		p.Subsection("pressroom " + r.Name + " " + v.Name + positionalPlaceholders(v.Operation))
		p.Text(v.Operation.Summary + " (" + v.Operation.Name + "). " + v.Operation.Description)
		for _, a := range v.Operation.Arguments {
			p.Item("--"+flagName(a), " "+valuePlaceholder(a), strings.TrimSpace(strings.TrimSpace(argumentNote(a))+"\n"+a.Description))
		}
	}
	p.Section("SEE ALSO")
	p.Text("pressroom(1), pressroom-call(1), pressroom-login(1)")
	return p
}

// CallManPage returns the manual page for pressroom call.
func CallManPage(version string) *manpage.Page {
	p := manpage.New("pressroom-call", "call an API operation and print its response", version)
	p.Section("SYNOPSIS")
	p.Synopsis("pressroom", "RESOURCE VERB [ID...] [--ARGUMENT VALUE...]")
	p.Synopsis("pressroom call", "OPERATION [ID...] [--ARGUMENT VALUE...]")
	p.Section("DESCRIPTION")
	_, about, _ := strings.Cut(overviewHeader, "\n\n")
	p.Text(strings.TrimSuffix(about, "\n\nOperations:\n"))
	p.Section("OPERATIONS")
	var seeAlso []string
	for _, r := range Resources() {
		for _, v := range r.Verbs {
			p.Item(r.Name+" "+v.Name, "", v.Operation.Name+": "+v.Operation.Summary+".")
		}
		seeAlso = append(seeAlso, "pressroom-"+r.Name+"(1)")
	}
	for part := range strings.SplitSeq(strings.TrimSpace(overviewFooter), "\n\n") {
		title, rest, _ := strings.Cut(part, ":\n")
		p.Section(strings.ToUpper(title))
		for line := range strings.SplitSeq(rest, "\n") {
			term, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
			p.Item(term, "", strings.TrimSpace(text))
		}
	}
	p.Section("SEE ALSO")
	p.Text("pressroom(1), pressroom-login(1), " + strings.Join(seeAlso, ", "))
	return p
}
