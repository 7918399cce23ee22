package operation

// Resource declares that the result of a read is an MCP resource.
type Resource struct {
	Address string // URI without the scheme, with the arguments of the operation's path in braces
	Title   string // the kind of resource, such as "Report"
}

// Listing describes the items of a list, so that they can be completed as values of an argument.
type Listing struct {
	Member    string            // member of data that contains the items
	Item      string            // name of the operation that reads an item
	Arguments map[string]string // maps the arguments of Item to the members of the listed item that hold their values
	Label     []string          // members that identify an item to people, in order of preference
}
