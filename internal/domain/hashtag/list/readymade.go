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

	"pressroom/internal/domain/provider"
)

//go:embed readymade/*.json
var readyMadeFiles embed.FS

// readyMadeList is a list that comes with the program.
type readyMadeList struct {
	List

	language string // BCP 47, that its hashtags are in
	items    []Item
}

// readyMadeFile is how such a list is written down.
type readyMadeFile struct {
	ID       int64            `json:"id"` // stays the same for good
	Name     string           `json:"name"`
	Language string           `json:"language"`
	Platform string           `json:"platform"`
	Color    string           `json:"color"`
	Icon     string           `json:"icon"`
	Origin   string           `json:"origin"` // where the choice comes from
	Groups   []readyMadeGroup `json:"groups"`
}

// readyMadeGroup is hashtags of one subcategory, with spaces between them.
type readyMadeGroup struct {
	Subcategory string `json:"subcategory"`
	Hashtags    string `json:"hashtags"`
}

// loadReadyMade reads the lists that come with the program, the highest id first.
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

// parseReadyMade reads one list. It holds itself to the rules of every other list.
func parseReadyMade(raw []byte) (readyMadeList, error) {
	var f readyMadeFile
	if err := json.Unmarshal(raw, &f, json.RejectUnknownMembers(true)); err != nil {
		return readyMadeList{}, err //nolint:wrapcheck // whoever asked says which file
	}
	l, err := CreateInput{Name: f.Name, Platform: f.Platform, Color: f.Color, Icon: f.Icon}.newList(0)
	if err != nil {
		return readyMadeList{}, err
	}
	if f.ID < 1 || f.ID >= firstTeamListID || f.Origin == "" || f.Language == "" {
		return readyMadeList{}, errors.New("it lacks an id of its kind, a language, or where it comes from")
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
	if name, err := parseLine("subcategory", g.Subcategory, MaxSubcategory); err != nil || name != g.Subcategory || name == "" {
		return fmt.Errorf("%q is no subcategory", g.Subcategory)
	}
	for name := range strings.FieldsSeq(g.Hashtags) {
		tag, err := provider.Hashtag(name)
		if err != nil || tag != name || !utf8.ValidString(name) {
			return fmt.Errorf("%q is not how a hashtag stands in a list", name)
		}
		if slices.ContainsFunc(r.items, func(i Item) bool { return i.Hashtag == tag }) {
			return fmt.Errorf("%q is there twice", name)
		}
		r.items = append(r.items, Item{tag, g.Subcategory})
	}
	return nil
}

// ReadyMadeHashtags returns the hashtags of the ready-made lists for a platform, each once, those of the first list first. Lists that
// are tied to none are for every platform.
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
