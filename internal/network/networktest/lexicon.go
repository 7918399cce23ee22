package networktest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rivo/uniseg"
)

// lexicon is a definition in a lexicon of the AT Protocol.
//
// Source: https://atproto.com/specs/lexicon
type lexicon struct {
	Type       string              `json:"type"`
	Parameters *lexicon            `json:"parameters"`
	Input      *lexiconBody        `json:"input"`
	Output     *lexiconBody        `json:"output"`
	Record     *lexicon            `json:"record"`
	Required   []string            `json:"required"`
	Nullable   []string            `json:"nullable"`
	Properties map[string]*lexicon `json:"properties"`
	Items      *lexicon            `json:"items"`
	Ref        string              `json:"ref"`
	Refs       []string            `json:"refs"`
	Enum       []any               `json:"enum"`
	Format     string              `json:"format"`
	Accept     []string            `json:"accept"`
	MaxSize    int64               `json:"maxSize"`
	Minimum    *int64              `json:"minimum"`
	Maximum    *int64              `json:"maximum"`
	MinLength  *int                `json:"minLength"`
	MaxLength  *int                `json:"maxLength"`
	Graphemes  *int                `json:"maxGraphemes"`
}

type lexiconBody struct {
	Encoding string   `json:"encoding"`
	Schema   *lexicon `json:"schema"`
}

var lexicons = sync.OnceValue(func() map[string]map[string]*lexicon {
	var byID map[string]map[string]*lexicon
	decodeDescription("lexicons.json", &byID)
	for id, definitions := range byID {
		for _, d := range definitions {
			d.qualify(id)
		}
	}
	return byID
})

// qualify makes references within a lexicon absolute.
func (d *lexicon) qualify(id string) {
	if d == nil {
		return
	}
	if strings.HasPrefix(d.Ref, "#") {
		d.Ref = id + d.Ref
	}
	for i, ref := range d.Refs {
		if strings.HasPrefix(ref, "#") {
			d.Refs[i] = id + ref
		}
	}
	for _, inner := range []*lexicon{d.Parameters, d.Record, d.Items} {
		inner.qualify(id)
	}
	for _, body := range []*lexiconBody{d.Input, d.Output} {
		if body != nil {
			body.Schema.qualify(id)
		}
	}
	for _, property := range d.Properties {
		property.qualify(id)
	}
}

// CheckXRPC checks a request and a successful response against the lexicon of its method. Requests must not have
// members that the lexicon lacks. CheckXRPC returns the method, or "" if the request is not an XRPC call.
func CheckXRPC(tb testing.TB, r Request) string {
	tb.Helper()
	_, method, isXRPC := strings.Cut(r.URL.Path, "/xrpc/")
	if !isXRPC {
		return ""
	}
	main := lexicons()[method]["main"]
	if main == nil {
		tb.Errorf("%s is not described", method)
		return method
	}
	if isQuery := r.Method == http.MethodGet; isQuery != (main.Type == "query") {
		tb.Errorf("%s: the method is %s", method, r.Method)
	}
	c := lexiconCheck{strict: true}
	if !slices.Contains(undescribedParams, method) {
		c.params(main.Parameters, r.URL.Query())
	}
	if main.Input != nil {
		c.body("input", main.Input, r.Header.Get("Content-Type"), r.Body)
	}
	c.strict = false
	if r.Status == http.StatusOK && main.Output != nil && !slices.Contains(bareOutputs, method) {
		c.body("output", main.Output, r.ResponseHeader.Get("Content-Type"), r.ResponseBody)
	}
	for _, problem := range c.problems {
		tb.Errorf("%s: %s", method, problem)
	}
	return method
}

var (
	// undescribedParams are methods with parameters that only Bluesky's tutorial describes.
	undescribedParams = []string{"app.bsky.video.uploadVideo"}
	// bareOutputs are methods that respond with a job, although the lexicon describes an object that contains the job.
	bareOutputs = []string{"app.bsky.video.uploadVideo"}
)

// lexiconCheck collects the problems of one request or response.
type lexiconCheck struct {
	strict   bool // unknown members are problems
	problems []string
}

func (c *lexiconCheck) failf(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *lexiconCheck) params(schema *lexicon, query url.Values) {
	if schema == nil {
		schema = &lexicon{}
	}
	for name, values := range query {
		p := schema.Properties[name]
		if p == nil {
			c.failf("there is no parameter %s", name)
			continue
		}
		for _, value := range values {
			c.value(name, p, paramValue(p, value))
		}
	}
	for _, name := range schema.Required {
		if !query.Has(name) {
			c.failf("the parameter %s is missing", name)
		}
	}
}

// paramValue converts a parameter to the value that JSON decoding would return.
func paramValue(schema *lexicon, text string) any {
	if schema.Type == "array" {
		return []any{text}
	}
	if schema.Type == "integer" {
		return json.Number(text)
	}
	if on, err := strconv.ParseBool(text); schema.Type == "boolean" && err == nil {
		return on
	}
	return text
}

func (c *lexiconCheck) body(path string, schema *lexiconBody, contentType string, body []byte) {
	kind, _, _ := mime.ParseMediaType(contentType)
	if kind != schema.Encoding && schema.Encoding != "*/*" {
		c.failf("the %s is of type %s", path, contentType)
	}
	if schema.Schema == nil {
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		c.failf("the %s is not JSON", path)
		return
	}
	c.value(path, schema.Schema, value)
}

// value checks a value. The parameter where is its path, for messages.
func (c *lexiconCheck) value(path string, d *lexicon, value any) {
	d = c.resolve(d)
	switch v := value.(type) {
	case map[string]any:
		c.object(path, d, v)
	case []any:
		c.list(path, d, v)
	case string:
		c.text(path, d, v)
	case json.Number:
		c.integer(path, d, v)
	case bool:
		c.wantType(path, d, "boolean")
	}
}

func (c *lexiconCheck) wantType(path string, d *lexicon, allowed ...string) {
	if d.Type != "unknown" && !slices.Contains(allowed, d.Type) {
		c.failf("%s is not of type %s", path, d.Type)
	}
}

func (c *lexiconCheck) list(path string, d *lexicon, v []any) {
	c.wantType(path, d, "array")
	c.length(path, d, len(v))
	for i, item := range v {
		if d.Items != nil {
			c.value(fmt.Sprintf("%s[%d]", path, i), d.Items, item)
		}
	}
}

func (c *lexiconCheck) integer(path string, d *lexicon, v json.Number) {
	c.wantType(path, d, "integer")
	n, err := v.Int64()
	if err != nil || d.Minimum != nil && n < *d.Minimum || d.Maximum != nil && n > *d.Maximum {
		c.failf("%s is %s", path, v)
	}
}

// resolve follows references, which qualify has made absolute.
func (c *lexiconCheck) resolve(d *lexicon) *lexicon {
	for d.Type == "ref" {
		target := c.find(d.Ref)
		if target == nil {
			c.failf("%s is not described", d.Ref)
			return &lexicon{Type: "unknown"}
		}
		d = target
	}
	return d
}

func (*lexiconCheck) find(ref string) *lexicon {
	id, name, _ := strings.Cut(ref, "#")
	return lexicons()[id][cmp.Or(name, "main")]
}

func (c *lexiconCheck) object(path string, d *lexicon, v map[string]any) {
	if d.Type == "blob" {
		c.blob(path, d, v)
		return
	}
	if d = c.objectType(path, d, v); d == nil {
		return
	}
	c.wantType(path, d, "object")
	for name, member := range v {
		schema := d.Properties[name]
		switch {
		case schema == nil && c.strict && name != "$type":
			c.failf("%s has no %s", path, name)
		case schema != nil && (member != nil || !slices.Contains(d.Nullable, name)):
			c.value(path+"."+name, schema, member)
		}
	}
	for _, name := range d.Required {
		if _, given := v[name]; !given {
			c.failf("%s lacks %s", path, name)
		}
	}
}

// objectType returns the definition of an object, or nil if it is not described. An object of a union has its type in
// $type.
func (c *lexiconCheck) objectType(path string, d *lexicon, v map[string]any) *lexicon {
	if d.Type == "union" || d.Type == "unknown" {
		kind, _ := v["$type"].(string)
		if kind == "" && d.Type == "union" {
			c.failf("%s has no $type", path)
		}
		d = c.find(kind)
	}
	if d != nil && d.Type == "record" {
		return d.Record
	}
	return d
}

func (c *lexiconCheck) blob(path string, d *lexicon, v map[string]any) {
	ref, _ := v["ref"].(map[string]any)
	link, _ := ref["$link"].(string)
	kind, _ := v["mimeType"].(string)
	size, _ := v["size"].(json.Number)
	n, err := size.Int64()
	if v["$type"] != "blob" || link == "" || err != nil || d.MaxSize > 0 && n > d.MaxSize {
		c.failf("%s is not a blob of at most %d bytes", path, d.MaxSize)
	}
	accepts := func(accept string) bool {
		family, isWildcard := strings.CutSuffix(accept, "*")
		return accept == kind || isWildcard && strings.HasPrefix(kind, strings.TrimSuffix(family, "*/"))
	}
	if len(d.Accept) > 0 && !slices.ContainsFunc(d.Accept, accepts) {
		c.failf("%s is of type %s", path, kind)
	}
}

// lexiconFormats are the string formats that are checked.
var lexiconFormats = map[string]*regexp.Regexp{
	"did":      regexp.MustCompile(`^did:[a-z]+:[a-zA-Z0-9._:%-]+$`),
	"at-uri":   regexp.MustCompile(`^at://[^/]+(/[a-zA-Z.]+(/[A-Za-z0-9._:~-]+)?)?$`),
	"nsid":     regexp.MustCompile(`^[a-z0-9.-]+\.[a-zA-Z][a-zA-Z0-9]*$`),
	"datetime": regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})$`),
	"language": regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]+)*$`),
	"uri":      regexp.MustCompile(`^[a-z][a-z0-9+.-]*:\S+$`),
}

func (c *lexiconCheck) text(path string, d *lexicon, v string) {
	c.wantType(path, d, "string", "cid-link")
	c.length(path, d, len(v))
	if d.Graphemes != nil && uniseg.GraphemeClusterCount(v) > *d.Graphemes {
		c.failf("%s is too long", path)
	}
	if len(d.Enum) > 0 && !slices.Contains(d.Enum, any(v)) {
		c.failf("%s is %q", path, v)
	}
	if format := lexiconFormats[d.Format]; format != nil && !format.MatchString(v) {
		c.failf("%s is not of the format %s: %q", path, d.Format, v)
	}
}

func (c *lexiconCheck) length(path string, d *lexicon, n int) {
	if d.MinLength != nil && n < *d.MinLength || d.MaxLength != nil && n > *d.MaxLength {
		c.failf("%s has a length of %d", path, n)
	}
}
