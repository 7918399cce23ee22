package compose

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/caption"
	"pressroom.example/pressroom/internal/domain/post/override"
	"pressroom.example/pressroom/internal/domain/post/recurrence"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
)

func zone(t interface{ Fatal(...any) }, name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestInstants(t *testing.T) {
	for _, c := range []struct {
		zone, date, time string
		second           bool
		want             string
		twice            bool
	}{
		{"Europe/Berlin", "", "", false, "", false},
		{"Europe/Berlin", "2031-03-28", "10:00", false, "2031-03-28T09:00:00Z", false},
		{"Europe/Berlin", "2031-03-28", "10:00", true, "2031-03-28T09:00:00Z", false},
		{"Europe/Berlin", "2031-10-26", "02:30", false, "2031-10-26T00:30:00Z", true},
		{"Europe/Berlin", "2031-10-26", "02:30", true, "2031-10-26T01:30:00Z", true},
		{"Europe/Berlin", "2031-10-26", "02:00", true, "2031-10-26T01:00:00Z", true},
		{"Europe/Berlin", "2031-10-26", "03:00", true, "2031-10-26T02:00:00Z", false},
		{"Europe/Berlin", "2031-10-26", "01:59", true, "2031-10-25T23:59:00Z", false},
		{"Australia/Lord_Howe", "2031-04-06", "01:45", true, "2031-04-05T15:15:00Z", true},
		{"UTC", "2031-10-26", "02:30", true, "2031-10-26T02:30:00Z", false},
	} {
		at, twice, err := timeInput{c.date, c.time, c.second, true}.instant(zone(t, c.zone))
		text := ""
		if !at.IsZero() {
			text = at.Format(time.RFC3339)
		}
		if err != nil || text != c.want || twice != c.twice {
			t.Errorf("%+v: %s, %v (%v)", c, text, twice, err)
		}
	}
	for _, c := range []struct{ date, time, field, text string }{
		{"2031-03-30", "", "time", "Choose the time as well."},
		{"", "10:00", "date", "Choose the date as well."},
		{"2031-03-30", "02:30", "time", "On 30 March 2031, clocks in Europe/Berlin go from 02:00 to 03:00, so this " +
			"time does not exist. Choose another."},
		{"30.3.2031", "10:00", "date", "The date or time is invalid. Enter them as 2026-03-29 and 10:15."},
		{"2031-03-31", "25:00", "date", "The date or time is invalid. Enter them as 2026-03-29 and 10:15."},
	} {
		_, _, err := timeInput{Date: c.date, Time: c.time}.instant(zone(t, "Europe/Berlin"))
		if f := apierr.FromError(err); err == nil || f.Context["argument"] != c.field || f.Detail != c.text {
			t.Errorf("%s %s: %v", c.date, c.time, err)
		}
	}
	_, _, err := timeInput{Date: "2011-12-30", Time: "12:00"}.instant(zone(t, "Pacific/Apia"))
	if f := apierr.FromError(err); f.Context["argument"] != "time" || !strings.Contains(f.Detail, "from 00:00 to 00:00") {
		t.Errorf("skipped day: %v", err)
	}
}

// TestInstantsRoundTrip checks that an instant shown in a form is read back as the same instant.
func TestInstantsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		z := zone(t,
			rapid.SampledFrom([]string{
				"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "UTC",
			}).Draw(t, "zone"))
		at := time.Unix(rapid.Int64Range(1_700_000_000, 2_100_000_000).Draw(t, "at")/60*60, 0).UTC()
		got, err := whenOf(at, z).resolve(z)
		if err != nil || !got.Equal(at) {
			t.Fatalf("%v is shown as %+v and read as %v (%v)", at, whenOf(at, z), got, err)
		}
	})
}

func TestRules(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	third := time.Date(2031, 1, 15, 10, 0, 0, 0, berlin) // third Wednesday
	last := time.Date(2031, 1, 29, 10, 0, 0, 0, berlin)
	for _, c := range []struct {
		repeat repeat
		begin  time.Time
		want   string
	}{
		{repeat{}, third, ""},
		{repeat{Often: "daily"}, third, "FREQ=DAILY"},
		{repeat{Often: "daily", Every: "3", Ends: "count", Count: "10"}, third, "FREQ=DAILY;INTERVAL=3;COUNT=10"},
		{repeat{Often: "weekly", Every: "1", Days: []string{"SU", "MO", "XX"}}, third, "FREQ=WEEKLY;BYDAY=MO,SU"},
		{repeat{Often: "weekly"}, third, "FREQ=WEEKLY"},
		{repeat{Often: "monthly", Ends: "until", Until: "2031-12-31"}, third, "FREQ=MONTHLY;BYMONTHDAY=15;UNTIL=20311231"},
		{repeat{Often: "monthly", By: "day"}, third, "FREQ=MONTHLY;BYDAY=3WE"},
		{repeat{Often: "monthly", By: "day"}, last, "FREQ=MONTHLY;BYDAY=-1WE"},
	} {
		rule, err := c.repeat.rule(c.begin)
		if err != nil || rule != c.want {
			t.Errorf("%+v: %q (%v), want %q", c.repeat, rule, err, c.want)
		}
		if rule == "" {
			continue
		}
		if _, err := recurrence.Preview(rule, c.begin, berlin, 1); err != nil {
			t.Errorf("parsing %s: %v", rule, err)
		}
		if again, err := repeatOf(rule).rule(c.begin); err != nil || again != rule {
			t.Errorf("%s is formatted as %q (%v)", rule, again, err)
		}
	}
	for field, r := range map[string]repeat{
		"repeat": {Often: "hourly"}, "every": {Often: "daily", Every: "0"}, "until": {Often: "daily", Ends: "until"},
		"count": {Often: "daily", Ends: "count", Count: "many"},
	} {
		if _, err := r.rule(third); apierr.FromError(err).Context["argument"] != field {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if date, day := monthLabels(locale.English, third); date != "On the 15th of the month" || day != "On the third Wednesday of the month" {
		t.Errorf("%s, %s", date, day)
	}
	if date, day := monthLabels(locale.English, last); date != "On the 29th of the month" || day != "On the last Wednesday of the month" {
		t.Errorf("%s, %s", date, day)
	}
	for n, want := range map[int]string{1: "st", 2: "nd", 3: "rd", 4: "th", 11: "th", 12: "th", 13: "th", 21: "st", 31: "st"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d%s, want %s", n, got, want)
		}
	}
}

func TestArrangeMedia(t *testing.T) {
	form := url.Values{"media": {"7", "8", "9", "x", "-1"}, "account": {"3", "3", "2"}, "media-3": {"8"},
		"text-3": {"a\r\nb"}, "text-2": {"  "},
		"alt-7": {"Boats"}, "cover-9": {" 2,5 "}, "caption": {"x\x00\xff"}}
	s := parseForm(form)
	if s.Caption != "x\uFFFD" || !slices.Equal(s.Accounts, []int64{2, 3}) || s.Alts[7] != "Boats" {
		t.Errorf("%+v", s)
	}
	s.arrange("up", "0", "0")
	s.arrange("down", "0", "2")
	s.arrange("up", "0", "99")
	s.arrange("remove", "0", "-1")
	if !slices.Equal(s.Media, []int64{7, 8, 9}) {
		t.Errorf("%v", s.Media)
	}
	s.arrange("up", "0", "2")
	s.arrange("down", "0", "0")
	s.Picker.Into = mediaList{Account: 3}
	s.add(9)
	s.add(9)
	s.arrange("remove", "3", "0")
	c, formErr := s.composition()
	if len(formErr) > 0 {
		t.Fatal(formErr)
	}
	text := "a\nb"
	want := post.Composition{Caption: "x\uFFFD", Accounts: []int64{2, 3}, Media: []int64{9, 7, 8},
		Overrides: map[int64]override.Override{3: {Caption: &text, Media: []int64{9}}},
		Covers:    map[int64]time.Duration{9: 2500 * time.Millisecond}, Thread: []post.ThreadPart{}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	for _, cover := range []string{"x", "-1", "1e9", "NaN"} {
		s.Covers[9] = cover
		if _, formErr := s.composition(); len(formErr) != 1 || apierr.FromError(formErr[0]).Context["argument"] != "cover-9" {
			t.Errorf("cover at %s: %v", cover, formErr)
		}
	}
}

// TestFormRoundTrip checks that a saved post survives a form.
func TestFormRoundTrip(t *testing.T) {
	text, title, none := "own", "Own title", ""
	film := network.Media{ID: 4, Kind: network.Video, Cover: 1500 * time.Millisecond}
	p := post.Record{
		Caption: "all", Title: "For all", Media: []network.Media{film, {ID: 5, Kind: network.Image}},
		Thread: []thread.Part{{Caption: "next", Media: []network.Media{{ID: 6, Kind: network.Image}}}, {Caption: "last"}},
		Targets: []post.Target{{AccountID: 2, Caption: &text, Media: []network.Media{}},
			{AccountID: 3, Title: &title}, {AccountID: 4, Title: &none}},
	}
	s := formDataOf(p, time.UTC)
	got, formErr := s.composition()
	if len(formErr) > 0 {
		t.Fatal(formErr)
	}
	want := post.Composition{
		Caption: "all", Title: &p.Title, Accounts: []int64{2, 3, 4}, Media: []int64{4, 5},
		Overrides: map[int64]override.Override{2: {Caption: &text, Media: []int64{}}, 3: {Title: &title}, 4: {Title: &none}},
		Covers:    map[int64]time.Duration{4: 1500 * time.Millisecond},
		Thread:    []post.ThreadPart{{Caption: "next", MediaIDs: []int64{6}}, {Caption: "last", MediaIDs: []int64{}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Buttons add and remove parts of the thread. Blank parts are not published, and problems have the part numbers of the
// form.
func TestThreadParts(t *testing.T) {
	t.Parallel()
	s := parseForm(url.Values{"part-1": {"one"}, "part-2": {" "}, "part-3": {"three\r\n"}, "partmedia-3": {"7", "x", "8"},
		"part-25": {"ignored"}})
	want := []part{{Text: "one", Media: []int64{}}, {Text: " ", Media: []int64{}}, {Text: "three\n", Media: []int64{7, 8}}}
	if diff := cmp.Diff(want, s.Parts); diff != "" {
		t.Error(diff)
	}
	older := parseForm(url.Values{"part-1": {"one"}, "partmedia-1": {"7 8"}})
	if diff := cmp.Diff([]int64{7, 8}, older.Parts[0].Media); diff != "" {
		t.Error("a form with one field for all media:", diff)
	}
	found := []post.PostProblem{{}, {Part: 1}, {Part: 2}}
	s.renumber(found)
	if found[0].Part != 0 || found[1].Part != 1 || found[2].Part != 3 {
		t.Errorf("%+v", found)
	}
	for _, press := range []string{"remove:0", "remove:9", "remove:x", "other", "add"} {
		s.changeParts(press)
	}
	if diff := cmp.Diff([]post.ThreadPart{{Caption: "three\n", MediaIDs: []int64{7, 8}}}, s.thread()); diff != "" || len(s.Parts) != 3 {
		t.Errorf("%s %d parts", diff, len(s.Parts))
	}
	for range thread.MaxParts {
		s.changeParts("add")
	}
	if len(s.Parts) != thread.MaxParts-1 {
		t.Errorf("%d parts", len(s.Parts))
	}
}

// Media are added to a part, reordered and removed. Files for a part that was removed are added to the post.
func TestArrangePartMedia(t *testing.T) {
	t.Parallel()
	s := parseForm(url.Values{"part-1": {"one"}, "part-2": {""}, "partmedia-1": {"7"}, "partmedia-2": {"7", "8"},
		"media": {"7"}, "into": {"part-2"}, "alt-8": {"Boats"}})
	s.add(9)
	s.add(7)
	s.arrange("up", "part-2", "2")
	s.arrange("remove", "part-2", "0")
	s.arrange("remove", "part-2", "7")
	for _, unknown := range []string{"part-3", "part-0", "part--1", "part-x"} {
		s.arrange("remove", unknown, "9")
		s.arrange("down", unknown, "0")
	}
	if want := []int64{9, 8}; !slices.Equal(s.Parts[1].Media, want) || !slices.Equal(s.Parts[0].Media, []int64{7}) ||
		!slices.Equal(s.Media, []int64{7}) {
		t.Errorf("%v and %v", s.Parts, s.Media)
	}
	s.Picker.Into = mediaListOf("part-3")
	s.Picker.Picked = []int64{5}
	s.addPicked()
	if !slices.Equal(s.Media, []int64{7, 5}) {
		t.Errorf("%v", s.Media)
	}
	v := view{formData: s}
	v.arrangeMedia(map[int64]network.Media{7: {ID: 7, Alt: "Sea"}, 8: {ID: 8}})
	if one := v.Parts[1]; len(one.Items) != 1 || !one.Items[0].First || !one.Items[0].Last || one.Items[0].Alt != "Boats" ||
		one.Items[0].List.Field() != "partmedia-2" || v.Parts[0].Items[0].First {
		t.Errorf("%+v", v.Parts)
	}
}

// Long texts are split in place, and media stay with the first part of their text. The form does not change if the
// thread would be too long or if a link does not fit.
func TestSplitTexts(t *testing.T) {
	t.Parallel()
	fits := func(text string) bool { return len(text) <= 12 }
	s := formData{Caption: "One is here. Two.", Media: []int64{7}, Parts: []part{
		{Text: "Short.", Media: []int64{8}}, {Text: "Last one is. Long.", Media: []int64{9}},
	}}
	if err := s.split(fits); err != nil {
		t.Fatal(err)
	}
	want := []part{{Text: "Two."}, {Text: "Short.", Media: []int64{8}}, {Text: "Last one is.", Media: []int64{9}}, {Text: "Long."}}
	if diff := cmp.Diff(want, s.Parts); diff != "" || s.Caption != "One is here." || !slices.Equal(s.Media, []int64{7}) {
		t.Errorf("%q %v %s", s.Caption, s.Media, diff)
	}
	blank := formData{Caption: strings.Repeat(" ", 20), Parts: []part{{Text: strings.Repeat("\n", 20), Media: []int64{8}}}}
	if err := blank.split(fits); err != nil || blank.Caption != "" || !slices.Equal(blank.Parts[0].Media, []int64{8}) {
		t.Errorf("blank texts: %+v, %v", blank, err)
	}
	for text, field := range map[string]string{
		strings.Repeat("Sentence. ", thread.MaxParts): "caption", "https://harbour.example/menu": "caption",
		strings.Repeat("x", caption.MaxLength+1): "caption", "ok": "part-4",
	} {
		long := formData{Caption: text, Parts: s.Parts}
		if text == "ok" {
			long.Parts = append(slices.Clone(s.Parts[:3]), part{Text: "harbour.example/menu"})
		}
		before := long
		if err := long.split(fits); err == nil || apierr.FromError(err).Context["argument"] != field {
			t.Errorf("%.20s: %v", text, err)
		}
		if diff := cmp.Diff(before.Parts, long.Parts); diff != "" || long.Caption != before.Caption {
			t.Errorf("%.20s: %s", text, diff)
		}
	}
}

// Problems are sorted in the order of the fields on the page.
func TestProblemOrder(t *testing.T) {
	t.Parallel()
	all := problems{{Field: "times"}, {Field: "text-3"}, {Field: "second"}, {Field: "caption"}, {}}
	all.sort()
	var got []string
	for _, one := range all {
		got = append(got, one.Field)
	}
	if diff := cmp.Diff([]string{"", "caption", "text-3", "times", "second"}, got); diff != "" {
		t.Error(diff)
	}
}
