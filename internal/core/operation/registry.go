package operation

import "fmt"

// Registry holds all of the program's operations in the order of registration.
type Registry struct {
	operations []*Operation
	byTool     map[string]*Operation
}

// NewRegistry returns a registry with the given operations. It panics if two operations have the same name, or the same
// method and path.
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

// All returns all operations.
func (r *Registry) All() []*Operation { return r.operations }

// Tool returns the operation with the given name, or nil if there is none.
func (r *Registry) Tool(name string) *Operation { return r.byTool[name] }
