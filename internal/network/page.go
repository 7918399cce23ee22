package network

import "context"

// Page is what a web page says about itself.
type Page struct{ Title, Description string }

// PageReader reads a web page for a link card, without access to private networks.
type PageReader func(ctx context.Context, address string) (Page, error)
