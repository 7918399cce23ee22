package pinterest

import (
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// The errors for unknown boards and sections. The message for an unknown section is an assumption.
var (
	errBoard   = &rest.Error{Status: http.StatusNotFound, Code: 40, Message: "Board not found."}
	errSection = &rest.Error{Status: http.StatusNotFound, Code: 40, Message: "Board section not found."}
)

// sections lists the names of the sections that every board has.
var sections = []string{"Spring", "Summer", "Autumn", "Winter"}

func sectionID(board, name string) string {
	return base.StableID("7", "pinterest section "+board+" "+name)
}

// hasSection reports whether the section belongs to the board.
func hasSection(board, id string) bool {
	for _, name := range sections {
		if id == sectionID(board, name) {
			return true
		}
	}
	return false
}

// listSections lists the sections of a board.
func (n *Network) listSections(r *http.Request) (any, error) {
	var page any
	err := n.AsCaller(r, func(_ store.Tx, a store.Account, _ store.Token) error {
		board := r.PathValue("board")
		if !n.hasBoard(a, board) {
			return errBoard
		}
		views := []map[string]any{}
		for _, name := range sections {
			views = append(views, map[string]any{"id": sectionID(board, name), "name": name})
		}
		var err error
		page, err = n.page(r, views)
		return err
	})
	return page, err
}
