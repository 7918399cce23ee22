package operation

import "fmt"

// Registry holds every operation of the program, in the order in which they were added.
type Registry struct {
	all    []*Operation
	byTool map[string]*Operation
}

// NewRegistry gathers operations. Two of one name, or two at one address, panic.
func NewRegistry(groups ...[]Operation) *Registry {
	r := &Registry{byTool: map[string]*Operation{}}
	addresses := map[string]string{}
	for _, group := range groups {
		for _, op := range group {
			address := op.Method + " " + brace.ReplaceAllString(op.Path, "{}")
			if r.byTool[op.Tool] != nil || addresses[address] != "" {
				panic(fmt.Sprintf("operation %q at %s is declared twice (%s)", op.Tool, address, addresses[address]))
			}
			addresses[address] = op.Tool
			r.byTool[op.Tool] = &op
			r.all = append(r.all, &op)
		}
	}
	return r
}

// All lists the operations.
func (r *Registry) All() []*Operation { return r.all }

// Tool finds an operation by its name; nil where there is none.
func (r *Registry) Tool(name string) *Operation { return r.byTool[name] }
