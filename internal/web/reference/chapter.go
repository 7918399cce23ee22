package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
)

// chapter is a page with the operations of one tag and the types of their answers.
type chapter struct {
	Name, About, At string
	Entries         []entry
	Rejections      []rejection // of every operation
	Types           []kind
}

// kind is a named type.
type kind struct {
	Name   string
	About  string
	Fields []field
}

// entry is an operation.
type entry struct {
	Tool, Method, Path   string
	Summary, Description string
	About                []span // description for people
	Notes                []note // about codes
	Capability           string
	Also, AlsoWhen       string // additional capability, and when it is needed
	Price, Recurring     string
	Key                  string // rule for the Idempotency-Key
	Arguments            []field
	Command              string
	Status               string // status of success
	Success              string
	Answer               string // type of data
	AnswerAt             string // path of the page that describes it; empty for this page
	Fields               []field
	Example              string // complete answer
	Rejections           []rejection
}

// rejection is an error status with the codes of this operation.
type rejection struct {
	Status string
	Codes  []apierr.Code
}

const (
	answersAt  = "/docs/answers" // page of the types of all answers
	chaptersAt = "/docs/api/"    // prefix of chapter paths
)

// everywhere are the types that any answer may contain. They have their own page.
var everywhere = []string{"Meta", "Moment", "Page", "Billing", "Untrusted", "Problem"}

// maker builds one page from the document.
type maker struct {
	doc    document
	common []string          // types described on the page of all answers
	placed map[string]string // paths of the types on this page
	nested []string          // types still to describe, in order
}

// chapters returns the pages of the document in the order of its tags.
func chapters(doc document) ([]chapter, error) {
	common := reach(doc, everywhere)
	var out []chapter
	for _, tag := range doc.Tags {
		m := &maker{doc: doc, common: common, placed: map[string]string{}}
		c := chapter{
			Name: tag.Name, About: tag.Description,
			At: chaptersAt + strings.ReplaceAll(strings.ToLower(tag.Name), " ", "-"),
		}
		for _, path := range doc.Paths {
			for _, method := range path.Value {
				if slices.Contains(method.Value.Tags, tag.Name) {
					one, err := m.entry(strings.ToUpper(method.Name), path.Name, method.Value)
					if err != nil {
						return nil, fmt.Errorf("the operation %s: %w", method.Value.Tool, err)
					}
					c.Entries = append(c.Entries, one)
				}
			}
		}
		c.Types, c.Rejections = m.types(), shareRejections(c.Entries)
		shareArguments(c.Entries)
		out = append(out, c)
	}
	return out, nil
}

// answers returns the types that all answers share.
func answers(doc document) []kind {
	m := &maker{doc: doc, placed: map[string]string{}, nested: everywhere}
	for _, name := range everywhere {
		m.placed[name] = "#" + name
	}
	return m.types()
}

// reach returns types and all types within them.
func reach(doc document, names []string) []string {
	m := &maker{doc: doc, placed: map[string]string{}}
	for _, name := range names {
		m.place(name)
	}
	var out []string
	for _, k := range m.types() {
		out = append(out, k.Name)
	}
	return out
}

// place returns where a type is described. A new type is placed below the operations.
func (m *maker) place(name string) string {
	if slices.Contains(m.common, name) {
		return answersAt + "#" + name
	}
	if m.placed[name] == "" {
		m.placed[name] = "#" + name
		m.nested = append(m.nested, name)
	}
	return m.placed[name]
}

// types returns the types placed below the operations and those within them.
func (m *maker) types() []kind {
	var out []kind
	for next := 0; next < len(m.nested); next++ { //nolint:intrange // the loop adds elements
		s, _ := m.doc.Components.Schemas.get(m.nested[next])
		out = append(out, kind{m.nested[next], s.Description, fields(s, "", m.place)})
	}
	return out
}

func (m *maker) entry(method, path string, op operation) (entry, error) {
	e := entry{
		Tool: op.Tool, Method: method, Path: path, Summary: op.Summary, Description: op.Description,
		Capability: op.Capability,
		Price:      priceOf(op), Key: keyRule(op), Command: command(m.doc.Servers[0].URL, method, path, op),
	}
	if a := op.Additional; a != nil {
		e.Also, e.AlsoWhen = a.Capability, a.When
	}
	if r := op.Recurring; r != nil {
		e.Recurring = fmt.Sprintf("Up to %d credits, recurring: %s. Ends %s.", r.Credits, r.Repeats, r.Stops)
	}
	for _, p := range op.Parameters {
		if p.In != "header" {
			s := p.Schema
			s.Description = p.Description
			e.Arguments = append(e.Arguments, within(s, p.Name, p.Required, m.place)...)
		}
	}
	if op.Body != nil {
		e.Arguments = append(e.Arguments, fields(m.doc.schemaOf(op.Body.Content[jsonType]), "", m.place)...)
	}
	e.Rejections = rejectionsOf(op)
	err := m.success(&e, op)
	return e, err
}

// success sets the entry's answer. A type shared by several operations is described at the first.
func (m *maker) success(e *entry, op operation) error {
	for _, r := range op.Responses {
		if !strings.HasPrefix(r.Name, "2") {
			continue
		}
		body := r.Value.Content[jsonType]
		data, ok := m.doc.schemaOf(body).Properties.get("data")
		if !ok {
			return fmt.Errorf("its response type %s has no data", r.Name)
		}
		e.Status, e.Success, e.Example, e.Answer = r.Name, r.Value.Description, indent(body.Example), data.component()
		if e.AnswerAt = m.placed[e.Answer]; e.AnswerAt != "" {
			return nil
		}
		m.placed[e.Answer] = "#" + e.Answer
		s, ok := m.doc.Components.Schemas.get(e.Answer)
		if !ok {
			return fmt.Errorf("its response type %q is not described", e.Answer)
		}
		e.Fields = fields(s, "", m.place)
		return nil
	}
	return fmt.Errorf("it has no successful response")
}

func priceOf(op operation) string {
	switch p := op.Price; {
	case p == nil:
		return "Free"
	case p.Credits != nil:
		return strconv.FormatInt(*p.Credits, 10) + " credits."
	default:
		return fmt.Sprintf("%d to %d credits.", p.Min, p.Max)
	}
}

func keyRule(op operation) string {
	p, takes := keyOf(op)
	switch {
	case !takes:
		return "Not accepted: reads can be repeated safely."
	case p.Required:
		return "Required. " + p.Description
	}
	return "Optional. " + p.Description
}

// missing maps the codes of forbidden calls to the missing capability.
var missing = map[apierr.Code]string{
	apierr.ReadNotAllowed: "read", apierr.WriteNotAllowed: "write", apierr.PublishNotAllowed: "publish",
	apierr.SpendNotAllowed: "spend",
}

// otherwise are codes that no operation returns: codes for unknown paths and for upload links.
var otherwise = []apierr.Code{apierr.EndpointNotFound, apierr.MethodNotAllowed, apierr.UploadLinkUsed,
	apierr.UploadLinkClosed, apierr.UploadTooLarge,
	apierr.MalformedRequest, apierr.HeadersTooLarge, apierr.TransferCodingUnsupported, apierr.HTTPVersionUnsupported}

// rejectionsOf returns the error codes of an operation by status.
func rejectionsOf(op operation) []rejection {
	var out []rejection
	for _, r := range op.Responses {
		one := rejection{Status: r.Name}
		for _, p := range problem.Entries() {
			lacks := missing[p.Code]
			needed := lacks == "" || lacks == op.Capability || op.Additional != nil && lacks == op.Additional.Capability
			if strconv.Itoa(p.Status) == r.Name && needed && !slices.Contains(otherwise, p.Code) {
				one.Codes = append(one.Codes, p.Code)
			}
		}
		if len(one.Codes) > 0 {
			out = append(out, one)
		}
	}
	return out
}
