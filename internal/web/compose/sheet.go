package compose

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/network"
)

// formData is the content of the form, whether or not it is valid.
type formData struct {
	Caption      string
	Title        *string // nil if the form has no such field
	Accounts     []int64
	Media        []int64
	Parts        []part               // parts of the thread after the post itself
	Own          map[int64]ownContent // by account
	Alts         map[int64]string     // by image
	Covers       map[int64]string     // by video, in seconds as entered
	FirstComment string
	Choices      choices
	When         timeInput
	Repeat       repeat
	Picker       picker
	Seen         int64  // last change of the post when the form was first shown, in microseconds
	Voice        int64  // brand voice to check against; 0 for the default, noVoice for none
	Unsaved      bool   // whether the form contains unsaved input
	Remembered   bool   // whether the accounts are preselected from the person's last post
	Again        string // ID of the failed post that the form copies; empty once the copy exists
	Draft        string // identifies the form until it is saved; empty if it has no ID yet
}

// ownContent is an account's override. NoText, NoTitle and NoMedia override the post's content with nothing.
type ownContent struct {
	Text    string
	NoText  bool
	Title   string
	NoTitle bool
	Media   []int64
	NoMedia bool
}

// UsesText reports whether the account does not publish the post's text.
func (o ownContent) UsesText() bool { return o.NoText || strings.TrimSpace(o.Text) != "" }

// UsesTitle reports whether the account does not publish the post's title.
func (o ownContent) UsesTitle() bool { return o.NoTitle || strings.TrimSpace(o.Title) != "" }

// Customizes reports whether the account publishes content of its own.
func (o ownContent) Customizes() bool { return o.UsesText() || o.UsesTitle() || o.UsesMedia() }

// UsesMedia reports whether the account does not publish the post's media.
func (o ownContent) UsesMedia() bool { return o.NoMedia || len(o.Media) > 0 }

// cleanText converts the line endings of forms and removes NUL.
var cleanText = strings.NewReplacer("\r\n", "\n", "\x00", "")

func textOf(form url.Values, name string) string {
	return cleanText.Replace(strings.ToValidUTF8(form.Get(name), "\uFFFD"))
}

// numbers returns the valid IDs of a field.
func numbers(texts []string) []int64 {
	out := []int64{}
	for _, text := range texts {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			out = append(out, n)
		}
	}
	return out
}

// number parses an integer. It returns 0 if the text is invalid.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// parseForm returns the content of a form.
func parseForm(form url.Values) formData {
	s := formData{
		Caption: textOf(form, "caption"), Accounts: numbers(form["account"]), Media: numbers(form["media"]),
		Parts: readParts(form), FirstComment: textOf(form, "first-comment"), Choices: readChoices(form),
		Own: map[int64]ownContent{}, Alts: map[int64]string{}, Covers: map[int64]string{},
		When: timeInput{
			Date: form.Get("date"), Time: form.Get("time"), Second: form.Get("second") == "1",
			Chosen: form.Get("second") != "",
		},
		Repeat: repeat{
			Every: form.Get("every"), Often: form.Get("repeat"), Days: form["day"], By: form.Get("by"),
			Ends: form.Get("ends"), Until: form.Get("until"), Count: form.Get("count"),
		},
		Picker: picker{
			Open: form.Get("picker") != "", Query: textOf(form, "q"), Kind: form.Get("kind"),
			Folder: form.Get("folder"), Cursor: form.Get("cursor"), Into: mediaListOf(form.Get("into")),
			Picked: numbers(form["picked"]),
		},
		Seen: number(form.Get("seen")), Voice: number(form.Get("voice")), Again: form.Get("again"),
	}
	if form.Has("title") {
		s.Title = new(textOf(form, "title"))
	}
	if id := form.Get("draft"); draftID.MatchString(id) {
		s.Draft = id
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
		case "text", "notext", "title", "notitle", "media", "nomedia":
			s.Own[id] = ownContent{
				Text: textOf(form, "text-"+text), NoText: form.Get("notext-"+text) != "",
				Title: textOf(form, "title-"+text), NoTitle: form.Get("notitle-"+text) != "",
				Media: numbers(form["media-"+text]), NoMedia: form.Get("nomedia-"+text) != "",
			}
		case "alt":
			s.Alts[id] = textOf(form, name)
		case "cover":
			s.Covers[id] = strings.TrimSpace(form.Get(name))
		}
	}
	return s
}

// formDataOf converts a saved post to the content of a form.
func formDataOf(p post.Record, zone *time.Location) formData {
	s := formData{Caption: p.Caption, Title: &p.Title, Media: idsOf(p.Media), Parts: partsOf(p), FirstComment: p.FirstComment,
		Own: map[int64]ownContent{}, Alts: map[int64]string{},
		Covers: map[int64]string{}, Choices: choicesOf(p.Options),
		When: whenOf(p.ScheduledAt, zone), Repeat: repeatOf(p.Series.Rule), Seen: p.UpdatedAt.UnixMicro()}
	if p.PlannedDay != "" {
		s.When.Date = p.PlannedDay
	}
	addCovers(s.Covers, p.Media)
	for _, part := range p.Thread {
		addCovers(s.Covers, part.Media)
	}
	for _, t := range p.Targets {
		s.Accounts = append(s.Accounts, t.AccountID)
		addCovers(s.Covers, t.Media)
		o := ownContent{Media: idsOf(t.Media), NoMedia: t.Media != nil && len(t.Media) == 0}
		if t.Caption != nil {
			o.Text, o.NoText = *t.Caption, strings.TrimSpace(*t.Caption) == ""
		}
		if t.Title != nil {
			o.Title, o.NoTitle = *t.Title, *t.Title == ""
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

func addCovers(into map[int64]string, media []network.Media) {
	for _, m := range media {
		if m.Cover > 0 {
			into[m.ID] = seconds(m.Cover)
		}
	}
}

// seconds returns a duration as entered in a form.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// ownText returns the name of the field for an account's own text.
func ownText(account int64) string { return "text-" + strconv.FormatInt(account, 10) }

// ownTitle returns the name of the field for an account's own title.
func ownTitle(account int64) string { return "title-" + strconv.FormatInt(account, 10) }

// composition returns the form's content without its time, and all errors in it. Each error names the invalid field.
func (s *formData) composition() (post.Composition, []error) {
	formErr := s.Choices.errors()
	c := post.Composition{
		Caption: s.Caption, Title: s.Title, Accounts: s.Accounts, Media: s.Media, Overrides: map[int64]override.Override{},
		Covers: map[int64]time.Duration{}, Thread: s.thread(), FirstComment: strings.TrimSpace(s.FirstComment),
	}
	for _, account := range s.Accounts {
		var o override.Override
		edited := s.Own[account]
		if edited.UsesText() {
			o.Caption = &edited.Text
		}
		if edited.UsesTitle() {
			o.Title = &edited.Title
		}
		if edited.UsesMedia() {
			o.Media = append([]int64{}, edited.Media...)
		}
		if edited.Customizes() {
			c.Overrides[account] = o
		}
	}
	for _, video := range slices.Sorted(maps.Keys(s.Covers)) {
		if s.Covers[video] == "" {
			continue
		}
		after, err := strconv.ParseFloat(strings.Replace(s.Covers[video], ",", ".", 1), 64)
		if err != nil || !(after >= 0 && after <= 24*60*60) { // also rejects NaN
			formErr = append(formErr, apierr.Invalid(apierr.Malformed, "cover-"+strconv.FormatInt(video, 10),
				"Enter the time of the cover in seconds, such as 2.5."))
			continue
		}
		c.Covers[video] = time.Duration(after * float64(time.Second)).Round(time.Millisecond)
	}
	return c, formErr
}

// hasContent reports whether the form contains something to publish.
func (s *formData) hasContent() bool {
	for _, o := range s.Own {
		if o.Customizes() {
			return true
		}
	}
	return strings.TrimSpace(s.Caption+network.ValueOrZero(s.Title)) != "" || len(s.Media) > 0 || len(s.thread()) > 0 ||
		strings.TrimSpace(s.FirstComment) != ""
}

// removeUnknown removes media that are not in known, the team's library items by ID.
func (s *formData) removeUnknown(known map[int64]network.Media) {
	gone := func(id int64) bool { return known[id].ID == 0 }
	s.Media = slices.DeleteFunc(slices.Clone(s.Media), gone)
	for account, o := range s.Own {
		o.Media = slices.DeleteFunc(slices.Clone(o.Media), gone)
		s.Own[account] = o
	}
	s.Parts = slices.Clone(s.Parts)
	for i := range s.Parts {
		s.Parts[i].Media = slices.DeleteFunc(slices.Clone(s.Parts[i].Media), gone)
	}
}
