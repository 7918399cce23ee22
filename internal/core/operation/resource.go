package operation

// Resource declares that the result of a read is an MCP resource.
type Resource struct {
	Address string // URI without the scheme, with the arguments of the operation's path in braces
	Title   string // the kind of resource, such as "Report"
}

// Listing describes the items of a list, so that they can be completed as values of an argument.
type Listing struct {
	Member    string            // member of data that contains the items
	Item      string            // operation that reads an item
	Arguments map[string]string // arguments of that operation and the item's members with their values
	Label     []string          // members that identify an item to people, in order of preference
}
