package pinterest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxSection = 180 // characters of a section's name
	// codeNoSection is the error code for a section that does not exist. It is not a code of Pinterest.
	codeNoSection   = "SectionNotFound"
	sectionsPerPage = "250" // sections per page, the network's limit
	maxSectionPages = 10
)

// postOptions returns a post's options for Pinterest, or the zero value if there are none.
func postOptions(o network.Options) network.PinterestOptions { return network.ValueOrZero(o.Pinterest) }

// checkOptions returns problems with a post's options.
//
// Source: https://developers.pinterest.com/docs/api/v5/pins-create
func checkOptions(opts network.Options) []network.Problem {
	var problems []network.Problem
	add := func(field, message string) {
		problems = append(problems, network.OptionProblem(platform, field, network.CodeOptionUnsupported, true, message))
	}
	o := postOptions(opts)
	if utf8.RuneCountInString(o.Title) > maxTitle {
		add("title", "The title on Pinterest (options.pinterest.title) can have at most 100 characters. Shorten it.")
	}
	if o.Link != "" && (utf8.RuneCountInString(o.Link) > maxLink || network.WebURL(o.Link) == "") {
		add("link",
			"The link on Pinterest (options.pinterest.link) must begin with https:// or http:// and have at most 2048 characters.")
	}
	if utf8.RuneCountInString(o.BoardSection) > maxSection {
		add("board_section",
			"The section on Pinterest (options.pinterest.board_section) can have at most 180 characters. Enter its name.")
	}
	return problems
}

// draftOptions are a post's options as a draft stores them.
type draftOptions struct {
	Title     string `json:"title,omitempty"`
	Link      string `json:"link,omitempty"`
	Section   string `json:"section,omitempty"`    // name or ID
	SectionID string `json:"section_id,omitempty"` // found by Prepare
}

func newDraftOptions(c network.Content) draftOptions {
	o := postOptions(c.Options)
	clean := func(text string) string { return strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")) }
	return draftOptions{Title: clean(c.TitleOn(platform)), Link: clean(o.Link), Section: clean(o.BoardSection)}
}

// content returns the content that the draft publishes.
func (d draft) content() network.Content {
	return network.Content{Text: d.Text, Media: d.Media, Options: network.Options{Pinterest: &network.PinterestOptions{
		Title: d.Title, Link: d.Link, BoardSection: d.Section,
	}}}
}

// hasSection reports whether the section's ID is known, or the pin has no section.
func (d draftOptions) hasSection() bool { return d.Section == "" || d.SectionID != "" }

type section struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// findSection finds the ID of the pin's section among the board's sections. An ID takes precedence over a name.
func (n *Network) findSection(ctx context.Context, g network.Grant, d *draft) error {
	if d.hasSection() {
		return nil
	}
	sections, err := n.listSections(ctx, g)
	if err != nil {
		return err
	}
	for _, s := range sections {
		if s.ID == d.Section || d.SectionID == "" && strings.EqualFold(s.Name, d.Section) {
			d.SectionID = s.ID
		}
	}
	if d.SectionID == "" {
		return &network.Error{
			Class: network.Rejected, Status: http.StatusOK, Code: codeNoSection,
			Message: "The board has no section with this name. Create it on Pinterest, or choose another section.",
			Err:     errors.New("looking up the section: the board does not have it"),
		}
	}
	return nil
}

// listSections returns the sections of the account's board.
func (n *Network) listSections(ctx context.Context, g network.Grant) ([]section, error) {
	board, err := boardID(g)
	if err != nil {
		return nil, err
	}
	var sections []section
	bookmark := ""
	for range maxSectionPages {
		var page struct {
			Items    []section `json:"items"`
			Bookmark string    `json:"bookmark"`
		}
		c := n.newCall(g, http.MethodGet, "boards/"+board+"/sections")
		c.Query = pageQuery(sectionsPerPage, bookmark)
		if err := n.do(ctx, c, &page); err != nil {
			return nil, err
		}
		for _, s := range page.Items {
			if isID(s.ID) {
				sections = append(sections, s)
			}
		}
		if bookmark = page.Bookmark; bookmark == "" {
			break
		}
	}
	return sections, nil
}
