package operation

// Resource declares that the result of a read is an MCP resource.
type Resource struct {
	Address string // URI without the scheme; the arguments in the operation's path are in braces
	Title   string // the kind of resource, such as "Report"
}

// Listing describes the items of a list, so that clients can complete the value of an argument with the items' IDs.
type Listing struct {
	Member    string            // member of data that contains the items
	Item      string            // name of the operation that reads an item
	Arguments map[string]string // maps the arguments of Item to the members of a listed item that contain their values
	Label     []string          // members that identify an item to people
}
