package networktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Discovery is a description in the format of Google's discovery documents.
type Discovery struct {
	ServicePath string                      `json:"servicePath"`
	Parameters  map[string]*discoverySchema `json:"parameters"` // shared by all methods
	Methods     map[string]discoveryMethod  `json:"methods"`
	Schemas     map[string]*discoverySchema `json:"schemas"`
}

type discoveryMethod struct {
	Verb       string                      `json:"httpMethod"`
	Path       string                      `json:"path"`
	Parameters map[string]*discoverySchema `json:"parameters"`
	Request    *discoverySchema            `json:"request"`
	Response   *discoverySchema            `json:"response"`
	Upload     struct {
		Protocols struct {
			Resumable struct{ Path string }
			Simple    struct{ Path string }
		}
	} `json:"mediaUpload"`
}

type discoverySchema struct {
	Ref        string                      `json:"$ref"`
	Type       string                      `json:"type"`
	Enum       []string                    `json:"enum"`
	Pattern    string                      `json:"pattern"`
	Required   bool                        `json:"required"`
	Repeated   bool                        `json:"repeated"`
	Properties map[string]*discoverySchema `json:"properties"`
	Additional *discoverySchema            `json:"additionalProperties"`
	Items      *discoverySchema            `json:"items"`
}

// LoadDiscovery returns a function that loads a discovery document once.
func LoadDiscovery(name string) func() Discovery {
	return sync.OnceValue(func() Discovery {
		var d Discovery
		decodeDescription(name, &d)
		return d
	})
}

// uploadParameters are the parameters of Google's resumable upload protocol.
var uploadParameters = []string{"uploadType", "upload_id"}

// Check checks a request for a path, and its response if it is successful. It returns false if the document has no
// method for the request.
func (d Discovery) Check(tb testing.TB, r Request, path string) bool {
	tb.Helper()
	for id, m := range d.Methods {
		isUpload := path == m.Upload.Protocols.Simple.Path || path == m.Upload.Protocols.Resumable.Path
		plain := r.Method == m.Verb && path == "/"+d.ServicePath+m.Path
		if !plain && (!isUpload || path == "" || r.Method != m.Verb && r.Method != http.MethodPut) {
			continue
		}
		d.checkQuery(tb, id, m, r)
		if m.Request != nil && r.Method == m.Verb {
			d.checkJSON(tb, id+" request", m.Request, r.Body)
		}
		if m.Response != nil && r.Status == http.StatusOK && len(r.ResponseBody) > 0 {
			d.checkJSON(tb, id+" response", m.Response, r.ResponseBody)
		}
		return true
	}
	return false
}

func (d Discovery) checkQuery(tb testing.TB, id string, m discoveryMethod, r Request) {
	tb.Helper()
	query := r.URL.Query()
	for name, values := range query {
		p := m.Parameters[name]
		if p == nil {
			p = d.Parameters[name]
		}
		if p == nil && slices.Contains(uploadParameters, name) {
			continue
		}
		if p == nil {
			tb.Errorf("%s has no parameter %s", id, name)
			continue
		}
		for _, value := range values {
			if err := p.checkText(value); err != nil {
				tb.Errorf("%s: parameter %s: %v", id, name, err)
			}
		}
	}
	for name, p := range m.Parameters {
		if p.Required && !query.Has(name) && !query.Has("upload_id") {
			tb.Errorf("%s lacks the parameter %s", id, name)
		}
	}
}

func (s *discoverySchema) checkText(value string) error {
	var err error
	switch s.Type {
	case "integer":
		_, err = strconv.ParseInt(value, 10, 64)
	case "boolean":
		_, err = strconv.ParseBool(value)
	}
	if err != nil {
		return fmt.Errorf("%q is not of type %s", value, s.Type)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, value) {
		return fmt.Errorf("%q is not one of %v", value, s.Enum)
	}
	if s.Pattern != "" && !regexp.MustCompile("^(?:"+s.Pattern+")$").MatchString(value) {
		return fmt.Errorf("%q does not match %s", value, s.Pattern)
	}
	return nil
}

func (d Discovery) checkJSON(tb testing.TB, path string, s *discoverySchema, body []byte) {
	tb.Helper()
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		tb.Errorf("%s: %v", path, err)
		return
	}
	for _, problem := range d.problems(path, s, value) {
		tb.Error(problem)
	}
}

// problems returns the differences between a value and its schema.
func (d Discovery) problems(path string, s *discoverySchema, value any) []string {
	if s != nil && s.Ref != "" {
		s = d.Schemas[s.Ref]
	}
	if s == nil {
		return []string{path + " is not described"}
	}
	var problems []string
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			problems = append(problems, d.problems(path+"."+name, cmp.Or(s.Properties[name], s.Additional), member)...)
		}
		return append(s.wantType(path, "object"), problems...)
	case []any:
		for _, member := range v {
			problems = append(problems, d.problems(path+"[]", s.Items, member)...)
		}
		return append(s.wantType(path, "array"), problems...)
	case string:
		if err := s.checkText(v); err != nil {
			problems = []string{path + ": " + err.Error()}
		}
		return append(s.wantType(path, "string", "any"), problems...)
	case float64:
		return s.wantType(path, "integer", "number", "any")
	case bool:
		return s.wantType(path, "boolean", "any")
	}
	return nil
}

func (s *discoverySchema) wantType(path string, allowed ...string) []string {
	if slices.Contains(allowed, s.Type) {
		return nil
	}
	return []string{path + " is not of type " + s.Type}
}

// TrimBase returns the path of a request below a prefix.
func (r Request) TrimBase(prefix string) string { return strings.TrimPrefix(r.URL.Path, prefix) }
