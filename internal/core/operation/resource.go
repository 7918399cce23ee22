package operation

// Resource says that what a read gives is a thing with an address of its own, which people hand to an assistant.
type Resource struct {
	Address string // below the scheme of resources, with the arguments of the operation's path in braces
	Title   string // what one is called: "Report"
}

// Listing says how the items of a list are called and named, so that they can be offered for an argument.
type Listing struct {
	Member    string            // of data, that holds the items
	Item      string            // the operation that reads one of them
	Arguments map[string]string // of that operation, with the member of an item that is its value
	Label     []string          // members that tell one item from another to people; the first that are there
}
