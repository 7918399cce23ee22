package list

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"pressroom.example/pressroom/internal/domain/provider"
)

//go:embed readymade/*.json
var readyMadeFiles embed.FS

// readyMadeList is a list that comes with the service.
type readyMadeList struct {
	List

	language string // language of the hashtags, as a BCP 47 tag
	items    []Item
}

// readyMadeFile is the file format of a ready-made list.
type readyMadeFile struct {
	ID       int64            `json:"id"` // never changes
	Name     string           `json:"name"`
	Language string           `json:"language"`
	Platform string           `json:"platform"`
	Color    string           `json:"color"`
	Icon     string           `json:"icon"`
	Origin   string           `json:"origin"` // how the hashtags were chosen
	Groups   []readyMadeGroup `json:"groups"`
}

// readyMadeGroup holds the hashtags of a subcategory, separated by spaces.
type readyMadeGroup struct {
	Subcategory string `json:"subcategory"`
	Hashtags    string `json:"hashtags"`
}

// loadReadyMade returns the embedded ready-made lists, by descending ID.
func loadReadyMade() ([]readyMadeList, error) {
	names, err := fs.Glob(readyMadeFiles, "readymade/*.json")
	if err != nil {
		return nil, fmt.Errorf("listing ready-made lists: %w", err)
	}
	out := make([]readyMadeList, 0, len(names))
	for _, name := range names {
		raw, err := readyMadeFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		r, err := parseReadyMade(raw)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b readyMadeList) int { return int(b.ID - a.ID) })
	for n := range len(out) - 1 {
		if out[n].ID == out[n+1].ID {
			return nil, fmt.Errorf("two ready-made lists have the id %d", out[n].ID)
		}
	}
	return out, nil
}

// parseReadyMade parses and validates a ready-made list. The rules for teams' lists apply.
func parseReadyMade(raw []byte) (readyMadeList, error) {
	var f readyMadeFile
	if err := json.Unmarshal(raw, &f, json.RejectUnknownMembers(true)); err != nil {
		return readyMadeList{}, err //nolint:wrapcheck // the caller adds the file
	}
	l, err := CreateInput{Name: f.Name, Platform: f.Platform, Color: f.Color, Icon: f.Icon}.newList(0)
	if err != nil {
		return readyMadeList{}, err
	}
	if f.ID < 1 || f.ID >= firstTeamListID || f.Origin == "" || f.Language == "" {
		return readyMadeList{}, errors.New("the ID is out of range, or the language or origin is missing")
	}
	l.ID = f.ID
	r := readyMadeList{List: l, language: f.Language}
	for _, g := range f.Groups {
		if err := r.addGroup(g); err != nil {
			return r, err
		}
	}
	r.Size = int64(len(r.items))
	return r, nil
}

func (r *readyMadeList) addGroup(g readyMadeGroup) error {
	if name, err := parseLine("subcategory", g.Subcategory, MaxSubcategory); err != nil || name != g.Subcategory ||
		name == "" {
		return fmt.Errorf("invalid subcategory %q", g.Subcategory)
	}
	for name := range strings.FieldsSeq(g.Hashtags) {
		tag, err := provider.ParseHashtag(name)
		if err != nil || tag != name || !utf8.ValidString(name) {
			return fmt.Errorf("hashtag %q is not in normal form", name)
		}
		if slices.ContainsFunc(r.items, func(i Item) bool { return i.Hashtag == tag }) {
			return fmt.Errorf("duplicate hashtag %q", name)
		}
		r.items = append(r.items, Item{tag, g.Subcategory})
	}
	return nil
}

// ReadyMadeHashtags returns the distinct hashtags of the ready-made lists for a platform, in the order of the lists.
// Lists for all platforms are included.
func (s *Service) ReadyMadeHashtags(platform string) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range slices.Backward(s.readyMadeLists) {
		if r.Platform != "" && r.Platform != platform {
			continue
		}
		for _, i := range r.items {
			if !seen[i.Hashtag] {
				seen[i.Hashtag] = true
				out = append(out, i.Hashtag)
			}
		}
	}
	return out
}

func (s *Service) findReadyMade(id int64) (readyMadeList, bool) {
	n := slices.IndexFunc(s.readyMadeLists, func(r readyMadeList) bool { return r.ID == id })
	if n < 0 {
		return readyMadeList{}, false
	}
	return s.readyMadeLists[n], true
}
