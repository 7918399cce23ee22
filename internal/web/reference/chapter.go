package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/api/problem"
	"pressroom.example/pressroom/internal/apierr"
)

// chapter is a page with the operations of one tag and the types of their responses.
type chapter struct {
	Name, About, At string
	Entries         []entry
	Rejections      []rejection // rejections that all operations share
	Types           []apiType
}

// apiType is a named type of the API.
type apiType struct {
	Name   string
	About  string
	Fields []field
}

// entry is an operation.
type entry struct {
	Tool, Method, Path   string
	Summary, Description string
	About                []span // description for people, with links
	Notes                []note // explanations of error codes
	Capability           string
	Also, AlsoWhen       string // additional capability, and the condition under which it is needed
	Price, Recurring     string
	Key                  string // whether the Idempotency-Key is accepted or required
	Arguments            []field
	Command              string
	Status               string // HTTP status of a successful response
	Success              string
	Answer               string // name of the response's type
	AnswerAt             string // path of the type's description; empty if Fields contains it
	Fields               []field
	Example              string // complete response
	Rejections           []rejection
}

// rejection is an HTTP error status with its error codes.
type rejection struct {
	Status string
	Codes  []apierr.Code
}

const (
	commonTypesPath   = "/docs/answers" // path of the page about the types that all responses share
	chapterPathPrefix = "/docs/api/"    // prefix of the paths of chapters
)

// commonTypes lists the types that any response may contain. A separate page describes them.
var commonTypes = []string{"Meta", "Moment", "Page", "Billing", "Untrusted", "Problem"}

// pageBuilder builds one page from the OpenAPI document.
type pageBuilder struct {
	doc       document
	common    []string          // types described on the page at commonTypesPath
	typePaths map[string]string // paths of the types' descriptions, by type name
	nested    []string          // types to describe below the operations, in order
}

// chapters returns a page for each tag of the document.
func chapters(doc document) ([]chapter, error) {
	common := reachableTypes(doc, commonTypes)
	var out []chapter
	for _, tag := range doc.Tags {
		builder := &pageBuilder{doc: doc, common: common, typePaths: map[string]string{}}
		c := chapter{
			Name: tag.Name, About: tag.Description,
			At: chapterPathPrefix + strings.ReplaceAll(strings.ToLower(tag.Name), " ", "-"),
		}
		for _, path := range doc.Paths {
			for _, method := range path.Value {
				if slices.Contains(method.Value.Tags, tag.Name) {
					e, err := builder.newEntry(strings.ToUpper(method.Name), path.Name, method.Value)
					if err != nil {
						return nil, fmt.Errorf("the operation %s: %w", method.Value.Tool, err)
					}
					c.Entries = append(c.Entries, e)
				}
			}
		}
		c.Types, c.Rejections = builder.types(), shareRejections(c.Entries)
		shareArguments(c.Entries)
		out = append(out, c)
	}
	return out, nil
}

// listCommonTypes returns the types that all responses share.
func listCommonTypes(doc document) []apiType {
	builder := &pageBuilder{doc: doc, typePaths: map[string]string{}, nested: commonTypes}
	for _, name := range commonTypes {
		builder.typePaths[name] = "#" + name
	}
	return builder.types()
}

// reachableTypes returns the names of types and of all types that they contain.
func reachableTypes(doc document, names []string) []string {
	builder := &pageBuilder{doc: doc, typePaths: map[string]string{}}
	for _, name := range names {
		builder.typePath(name)
	}
	var out []string
	for _, k := range builder.types() {
		out = append(out, k.Name)
	}
	return out
}

// typePath returns the path of a type's description. If the type is not described yet, typePath adds it to the types
// below the operations.
func (b *pageBuilder) typePath(name string) string {
	if slices.Contains(b.common, name) {
		return commonTypesPath + "#" + name
	}
	if b.typePaths[name] == "" {
		b.typePaths[name] = "#" + name
		b.nested = append(b.nested, name)
	}
	return b.typePaths[name]
}

// types returns the types to describe below the operations, including all types that they contain.
func (b *pageBuilder) types() []apiType {
	var out []apiType
	for next := 0; next < len(b.nested); next++ { //nolint:intrange // fields adds elements to nested
		s, _ := b.doc.Components.Schemas.get(b.nested[next])
		out = append(out, apiType{b.nested[next], s.Description, fields(s, "", b.typePath)})
	}
	return out
}

func (b *pageBuilder) newEntry(method, path string, op operation) (entry, error) {
	e := entry{
		Tool: op.Tool, Method: method, Path: path, Summary: op.Summary, Description: op.Description,
		Capability: op.Capability,
		Price:      priceOf(op), Key: describeKeyRule(op), Command: curlCommand(b.doc.Servers[0].URL, method, path, op),
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
			e.Arguments = append(e.Arguments, fieldTree(s, p.Name, p.Required, b.typePath)...)
		}
	}
	if op.Body != nil {
		e.Arguments = append(e.Arguments, fields(b.doc.schemaOf(op.Body.Content[jsonType]), "", b.typePath)...)
	}
	e.Rejections = rejectionsOf(op)
	err := b.setResponse(&e, op)
	return e, err
}

// setResponse sets the response of an entry. If several operations return the same type, the first operation describes
// it.
func (b *pageBuilder) setResponse(e *entry, op operation) error {
	for _, r := range op.Responses {
		if !strings.HasPrefix(r.Name, "2") {
			continue
		}
		body := r.Value.Content[jsonType]
		data, ok := b.doc.schemaOf(body).Properties.get("data")
		if !ok {
			return fmt.Errorf("its response type %s has no data", r.Name)
		}
		e.Status, e.Success, e.Example, e.Answer = r.Name, r.Value.Description, indent(body.Example), data.component()
		if e.AnswerAt = b.typePaths[e.Answer]; e.AnswerAt != "" {
			return nil
		}
		b.typePaths[e.Answer] = "#" + e.Answer
		s, ok := b.doc.Components.Schemas.get(e.Answer)
		if !ok {
			return fmt.Errorf("its response type %q is not described", e.Answer)
		}
		e.Fields = fields(s, "", b.typePath)
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

func describeKeyRule(op operation) string {
	p, ok := keyOf(op)
	switch {
	case !ok:
		return "Not accepted: reads can be repeated safely."
	case p.Required:
		return "Required. " + p.Description
	}
	return "Optional. " + p.Description
}

// missingCapability maps error codes to the capability that the caller lacks.
var missingCapability = map[apierr.Code]string{
	apierr.ReadNotAllowed: "read", apierr.WriteNotAllowed: "write", apierr.PublishNotAllowed: "publish",
	apierr.SpendNotAllowed: "spend",
}

// neverReturned lists the codes that no operation returns, such as the codes for unknown paths and upload links.
var neverReturned = []apierr.Code{apierr.EndpointNotFound, apierr.MethodNotAllowed, apierr.UploadLinkUsed,
	apierr.UploadLinkClosed, apierr.UploadTooLarge,
	apierr.MalformedRequest, apierr.HeadersTooLarge, apierr.TransferCodingUnsupported, apierr.HTTPVersionUnsupported}

// rejectionsOf returns the error codes of an operation, grouped by status.
func rejectionsOf(op operation) []rejection {
	var out []rejection
	for _, r := range op.Responses {
		group := rejection{Status: r.Name}
		for _, p := range problem.Entries() {
			missing := missingCapability[p.Code]
			needed := missing == "" || missing == op.Capability || op.Additional != nil && missing == op.Additional.Capability
			if strconv.Itoa(p.Status) == r.Name && needed && !slices.Contains(neverReturned, p.Code) {
				group.Codes = append(group.Codes, p.Code)
			}
		}
		if len(group.Codes) > 0 {
			out = append(out, group)
		}
	}
	return out
}
