package compose

import (
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

// mediaList identifies a list of media items in the form. The list belongs to the post, to an account's override, or to
// a part of the thread. The zero value identifies the post's list.
type mediaList struct {
	Account int64 // ID of the account; 0 for the post and for parts
	Part    int   // number of the part as in partField; 0 for the post and for accounts
}

// partPrefix precedes the number of a part in the identifier of its list and in the name of its text field.
const partPrefix = "part-"

// mediaListOf is the inverse of String. For other texts, it returns the post's list.
func mediaListOf(text string) mediaList {
	if n, ok := strings.CutPrefix(text, partPrefix); ok {
		return mediaList{Part: int(number(n))}
	}
	return mediaList{Account: number(text)}
}

func (l mediaList) String() string {
	if l.Part > 0 {
		return partField(l.Part)
	}
	return strconv.FormatInt(l.Account, 10)
}

// Field returns the name of the form fields that contain the IDs of the items.
func (l mediaList) Field() string {
	switch {
	case l.Part > 0:
		return partMediaField(l.Part)
	case l.Account > 0:
		return "media-" + strconv.FormatInt(l.Account, 10)
	}
	return "media"
}

// Section returns the id of the HTML element that contains the list.
func (l mediaList) Section() string {
	switch {
	case l.Part > 0:
		return "thread"
	case l.Account > 0:
		return "own"
	}
	return "media"
}

// hasList reports whether l is a list of the form.
func (s *formData) hasList(l mediaList) bool {
	if l.Part != 0 {
		return l.Part > 0 && l.Part <= len(s.Parts)
	}
	return l.Account == 0 || slices.Contains(s.Accounts, l.Account)
}

// list returns the IDs of the items in a list.
func (s *formData) list(l mediaList) []int64 {
	switch {
	case l.Part > 0 && l.Part <= len(s.Parts):
		return s.Parts[l.Part-1].Media
	case l.Part != 0:
		return nil
	case l.Account == 0:
		return s.Media
	}
	return s.Own[l.Account].Media
}

// setList replaces the items of a list. hasList(l) must be true.
func (s *formData) setList(l mediaList, media []int64) {
	switch {
	case l.Part > 0:
		s.Parts = slices.Clone(s.Parts)
		s.Parts[l.Part-1].Media = media
	case l.Account == 0:
		s.Media = media
	default:
		o := s.Own[l.Account]
		o.Media = media
		s.Own[l.Account] = o
	}
}

// add appends a library item to the list that the picker adds to, unless the list contains the item already.
func (s *formData) add(id int64) {
	if !s.hasList(s.Picker.Into) {
		s.Picker.Into = mediaList{}
	}
	list := s.list(s.Picker.Into)
	if id > 0 && !slices.Contains(list, id) {
		s.setList(s.Picker.Into, append(slices.Clone(list), id))
	}
}

// arrange performs the action of a media item's button: up, down or remove. place is the item's index in the list.
func (s *formData) arrange(what, list, place string) {
	l, at := mediaListOf(list), int(number(place))
	media := slices.Clone(s.list(l))
	if at < 0 || at >= len(media) {
		return
	}
	switch {
	case what == "up" && at > 0:
		media[at-1], media[at] = media[at], media[at-1]
	case what == "down" && at < len(media)-1:
		media[at], media[at+1] = media[at+1], media[at]
	case what == "remove":
		media = slices.Delete(media, at, at+1)
	}
	s.setList(l, media)
}

// item is a media item at its position in a list.
type item struct {
	network.Media

	List  mediaList
	Place int    // index in the list
	Last  bool   // whether it is the last item of the list
	Alt   string // alternative text, as entered or from the library
	Cover string // time of a video's cover in seconds, as entered
	First bool   // whether it is the item's first occurrence in the form, where Alt and Cover can be edited
}

// arrangeMedia sets the items of all lists. It omits media that are not in known, the team's library items by ID.
func (v *view) arrangeMedia(known map[int64]network.Media) {
	seen := map[int64]bool{}
	v.Shown, v.Media = v.items(mediaList{}, v.Media, known, seen)
	for _, list := range [][]selectedAccount{v.Chosen, v.Unselected} {
		for i := range list {
			c := &list[i]
			c.Items, c.Media = v.items(mediaList{Account: c.ID}, c.Media, known, seen)
			v.Own[c.ID] = c.ownContent
		}
	}
	v.Parts = slices.Clone(v.Parts)
	for i := range v.Parts {
		one := &v.Parts[i]
		one.Items, one.Media = v.items(mediaList{Part: i + 1}, one.Media, known, seen)
	}
}

func (v *view) items(l mediaList, ids []int64, known map[int64]network.Media, seen map[int64]bool) ([]item, []int64) {
	out, kept := []item{}, []int64{}
	for _, id := range ids {
		m, ok := known[id]
		if !ok {
			continue
		}
		i := item{Media: m, List: l, Place: len(out), Alt: m.Alt, Cover: v.Covers[id], First: !seen[id]}
		if alt, ok := v.Alts[id]; ok {
			i.Alt = alt
		}
		seen[id] = true
		out, kept = append(out, i), append(kept, id)
	}
	if len(out) > 0 {
		out[len(out)-1].Last = true
	}
	return out, kept
}
