package compose

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/post"
	"pressroom/internal/network"
)

// sheet is a post as it stands in the form, whether or not it could be kept so.
type sheet struct {
	Caption  string
	Accounts []int64
	Media    []int64
	Own      map[int64]own    // by account
	Alts     map[int64]string // by image, where the form has it
	Covers   map[int64]string // by video, in seconds as they were written
	When     when
	Repeat   repeat
	Picker   picker
	Seen     int64 // when the post was changed last, in microseconds, as the form was shown first
	Unsaved  bool  // it holds what nobody has saved
}

// own is what an account shows in place of the post's. What is written and not used is kept in the form.
type own struct {
	UsesText  bool
	Text      string
	UsesMedia bool
	Media     []int64
}

// picker is the part of the library that is shown.
type picker struct {
	Open   bool
	Query  string
	Cursor string
	Into   int64 // the account whose own media are chosen, 0 for the post's
}

// tidy is a text as browsers send it, as it is kept: they end lines by two characters.
var tidy = strings.NewReplacer("\r\n", "\n", "\x00", "")

func textOf(form url.Values, name string) string {
	return tidy.Replace(strings.ToValidUTF8(form.Get(name), "\uFFFD"))
}

// numbers are a field's ids; what is none is left out.
func numbers(texts []string) []int64 {
	out := []int64{}
	for _, text := range texts {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// number is a field's only one, 0 where it is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// read reads a form.
func read(form url.Values) sheet {
	s := sheet{
		Caption: textOf(form, "caption"), Accounts: numbers(form["account"]), Media: numbers(form["media"]),
		Own: map[int64]own{}, Alts: map[int64]string{}, Covers: map[int64]string{},
		When: when{
			Date: form.Get("date"), Time: form.Get("time"), Second: form.Get("second") == "1",
			Told: form.Get("second") != "",
		},
		Repeat: repeat{
			Every: form.Get("every"), Often: form.Get("repeat"), Days: form["day"], By: form.Get("by"),
			Ends: form.Get("ends"), Until: form.Get("until"), Count: form.Get("count"),
		},
		Picker: picker{
			Open: form.Get("picker") != "", Query: textOf(form, "q"), Cursor: form.Get("cursor"),
			Into: number(form.Get("into")),
		},
		Seen: number(form.Get("seen")),
	}
	slices.Sort(s.Accounts)
	s.Accounts = slices.Compact(s.Accounts)
	for name := range form {
		field, text, _ := strings.Cut(name, "-")
		id := number(text)
		if id < 1 {
			continue
		}
		switch field {
		case "text", "owntext", "ownmedia":
			s.Own[id] = own{
				UsesText: form.Get("owntext-"+text) != "", Text: textOf(form, "text-"+text),
				UsesMedia: form.Get("ownmedia-"+text) != "", Media: numbers(form["media-"+text]),
			}
		case "alt":
			s.Alts[id] = textOf(form, name)
		case "cover":
			s.Covers[id] = strings.TrimSpace(form.Get(name))
		}
	}
	return s
}

// sheetOf is a post that is kept, as the form shows it.
func sheetOf(p post.Record, zone *time.Location) sheet {
	s := sheet{Caption: p.Caption, Media: idsOf(p.Media), Own: map[int64]own{}, Alts: map[int64]string{},
		Covers: map[int64]string{},
		When:   whenOf(p.ScheduledAt, zone), Repeat: repeatOf(p.Series.Rule), Seen: p.UpdatedAt.UnixMicro()}
	covers(s.Covers, p.Media)
	for _, t := range p.Targets {
		s.Accounts = append(s.Accounts, t.AccountID)
		covers(s.Covers, t.Media)
		o := own{UsesText: t.Caption != nil, UsesMedia: t.Media != nil, Media: idsOf(t.Media)}
		if t.Caption != nil {
			o.Text = *t.Caption
		}
		s.Own[t.AccountID] = o
	}
	slices.Sort(s.Accounts)
	return s
}

func idsOf(media []network.Media) []int64 {
	out := []int64{}
	for _, m := range media {
		out = append(out, m.ID)
	}
	return out
}

func covers(into map[int64]string, media []network.Media) {
	for _, m := range media {
		if m.Cover > 0 {
			into[m.ID] = seconds(m.Cover)
		}
	}
}

// seconds is a time as it is written into a form.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// piece is what the sheet says, without its time. What cannot be read is refused by the name of its field.
func (s *sheet) piece() (post.Composition, error) {
	c := post.Composition{
		Caption: s.Caption, Accounts: s.Accounts, Media: s.Media, Own: map[int64]post.Override{},
		Covers: map[int64]time.Duration{},
	}
	for _, account := range s.Accounts {
		var o post.Override
		if held := s.Own[account]; held.UsesText {
			o.Caption = &held.Text
		}
		if held := s.Own[account]; held.UsesMedia {
			o.Media = held.Media
		}
		if o.Caption != nil || o.Media != nil {
			c.Own[account] = o
		}
	}
	for _, video := range slices.Sorted(maps.Keys(s.Covers)) {
		if s.Covers[video] == "" {
			continue
		}
		after, err := strconv.ParseFloat(strings.Replace(s.Covers[video], ",", ".", 1), 64)
		if err != nil || !(after >= 0 && after <= 24*60*60) { // also what is no number
			return c, apierr.Invalid(apierr.Malformed, "cover-"+strconv.FormatInt(video, 10),
				"Write the time of the cover in seconds, such as 2.5.")
		}
		c.Covers[video] = time.Duration(after * float64(time.Second)).Round(time.Millisecond)
	}
	return c, nil
}

// list is the media of the post, or an account's own.
func (s *sheet) list(account int64) []int64 {
	if account == 0 {
		return s.Media
	}
	return s.Own[account].Media
}

func (s *sheet) setList(account int64, media []int64) {
	if account == 0 {
		s.Media = media
		return
	}
	o := s.Own[account]
	o.UsesMedia, o.Media = true, media
	s.Own[account] = o
}

// add puts a library item behind the others where the picker is for, once.
func (s *sheet) add(id int64) {
	list := s.list(s.Picker.Into)
	if id > 0 && !slices.Contains(list, id) {
		s.setList(s.Picker.Into, append(slices.Clone(list), id))
	}
}

// keepKnown leaves out what the library does not have.
func (s *sheet) keepKnown(known map[int64]network.Media) {
	gone := func(id int64) bool { return known[id].ID == 0 }
	s.Media = slices.DeleteFunc(slices.Clone(s.Media), gone)
	for account, o := range s.Own {
		o.Media = slices.DeleteFunc(slices.Clone(o.Media), gone)
		s.Own[account] = o
	}
}

// arrange does what a button beside a medium says: up, down or remove, an account or 0, and the place.
func (s *sheet) arrange(what, account, place string) {
	list, at := slices.Clone(s.list(number(account))), int(number(place))
	if at < 0 || at >= len(list) {
		return
	}
	switch {
	case what == "up" && at > 0:
		list[at-1], list[at] = list[at], list[at-1]
	case what == "down" && at < len(list)-1:
		list[at], list[at+1] = list[at+1], list[at]
	case what == "remove":
		list = slices.Delete(list, at, at+1)
	}
	s.setList(number(account), list)
}
