package network

import "context"

// Page holds the title and the description that a web page provides for link cards.
type Page struct{ Title, Description string }

// PageReader reads a web page for a link card. It does not access private networks.
type PageReader func(ctx context.Context, address string) (Page, error)
