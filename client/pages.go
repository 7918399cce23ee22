package client

import (
	"errors"
	"iter"
)

// pages yields the pages of a list, starting with the page at cursor. It stops at the first error.
func pages[T any](cursor string, fetch func(cursor string) (*Answer[T], error)) iter.Seq2[*Answer[T], error] {
	return func(yield func(*Answer[T], error) bool) {
		for at := cursor; ; {
			a, err := fetch(at)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(a, nil) || a.Page == nil || !a.Page.HasMore {
				return
			}
			if a.Page.Cursor == "" || a.Page.Cursor == at {
				yield(nil, errors.New("the service reported another page, but did not return a cursor for it"))
				return
			}
			at = a.Page.Cursor
		}
	}
}

// items yields the items of all pages.
func items[T, I any](seq iter.Seq2[*Answer[T], error], itemsOf func(T) []I) iter.Seq2[I, error] {
	return func(yield func(I, error) bool) {
		for a, err := range seq {
			if err != nil {
				var none I
				yield(none, err)
				return
			}
			for _, item := range itemsOf(a.Data) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
