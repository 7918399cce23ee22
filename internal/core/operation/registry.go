package operation

import "fmt"

// Registry holds every operation of the program, in the order of registration.
type Registry struct {
	operations []*Operation
	byTool     map[string]*Operation
}

// NewRegistry returns a registry of the operations. It panics if two have the same name or the same method and path.
func NewRegistry(groups ...[]Operation) *Registry {
	r := &Registry{byTool: map[string]*Operation{}}
	routes := map[string]string{}
	for _, group := range groups {
		for _, op := range group {
			route := op.Method + " " + pathArgument.ReplaceAllString(op.Path, "{}")
			if r.byTool[op.Tool] != nil || routes[route] != "" {
				panic(fmt.Sprintf("operation %q at %s is declared twice (%s)", op.Tool, route, routes[route]))
			}
			routes[route] = op.Tool
			r.byTool[op.Tool] = &op
			r.operations = append(r.operations, &op)
		}
	}
	return r
}

// All returns the operations.
func (r *Registry) All() []*Operation { return r.operations }

// Tool returns the operation with a name, or nil.
func (r *Registry) Tool(name string) *Operation { return r.byTool[name] }
