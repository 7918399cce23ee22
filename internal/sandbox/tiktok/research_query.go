package tiktok

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/world"
)

// researchSearch is a query for videos.
type researchSearch struct {
	Query struct {
		And []researchCondition `json:"and"`
		Or  []researchCondition `json:"or"`
		Not []researchCondition `json:"not"`
	} `json:"query"`
	StartDate string `json:"start_date"` // as 20261121, by UTC
	EndDate   string `json:"end_date"`
	MaxCount  *int   `json:"max_count"`
	Cursor    int    `json:"cursor"`
	SearchID  string `json:"search_id"`

	from, to int64 // Unix seconds; to is exclusive
	day      int64 // on which the search began
}

type researchCondition struct {
	Operation string   `json:"operation"`
	Field     string   `json:"field_name"`
	Values    []string `json:"field_values"`
}

const (
	researchDate   = "20060102"
	researchWindow = 30 // days
	researchPage   = 20
	maxResearch    = 100 // videos per page
)

// check validates the search and resolves its dates.
func (s *researchSearch) check(today int64) error {
	first, err := time.Parse(researchDate, s.StartDate)
	if err != nil {
		return invalid("start_date has to be a day as YYYYMMDD")
	}
	last, err := time.Parse(researchDate, s.EndDate)
	if err != nil || last.Before(first) || last.Sub(first) > researchWindow*24*time.Hour {
		return invalid("end_date has to be a day as YYYYMMDD, at most 30 days after start_date")
	}
	s.from, s.to = first.Unix(), last.Unix()+world.SecondsPerDay
	if count := s.limit(); count < 1 || count > maxResearch || s.Cursor < 0 {
		return invalid("max_count has to be from 1 to 100, and cursor not below 0")
	}
	if len(s.Query.And)+len(s.Query.Or)+len(s.Query.Not) == 0 {
		return invalid("query has to hold a condition")
	}
	for _, condition := range s.conditions() {
		if err := condition.check(); err != nil {
			return err
		}
	}
	if len(s.usernames()) == 0 {
		return invalid("This sandbox finds videos only by their usernames: a condition EQ or IN on " +
			"username is needed")
	}
	return s.resume(today)
}

// resume begins a search, or continues the one with search_id as of the day on which it began.
func (s *researchSearch) resume(today int64) error {
	s.day = today
	if s.SearchID == "" {
		if s.Cursor > 0 {
			return invalid("search_id is needed where cursor is given")
		}
		s.SearchID = s.id(today)
		return nil
	}
	for ; s.day > today-world.CursorDays; s.day-- {
		if s.SearchID == s.id(s.day) {
			return nil
		}
	}
	return invalid("Search Id is invalid or expired")
}

// id returns the search_id of a search that began on a day.
func (s *researchSearch) id(day int64) string {
	sum := fnv.New64a()
	for _, part := range []string{s.StartDate, s.EndDate, strconv.FormatInt(day, 10)} {
		_, _ = sum.Write([]byte(part + " ")) // it cannot fail, here and below
	}
	for _, condition := range s.conditions() {
		_, _ = sum.Write([]byte(condition.Operation + condition.Field + strings.Join(condition.Values, ",") + ";"))
	}
	return "7" + strconv.FormatUint(sum.Sum64()>>4, 10)
}

func (s *researchSearch) limit() int {
	if s.MaxCount == nil {
		return researchPage
	}
	return *s.MaxCount
}

func (s *researchSearch) conditions() []researchCondition {
	return slices.Concat(s.Query.And, s.Query.Or, s.Query.Not)
}

// usernames returns the names of the profiles whose videos can match.
func (s *researchSearch) usernames() []string {
	var names []string
	for _, condition := range slices.Concat(s.Query.And, s.Query.Or) {
		if condition.Field == "username" {
			for _, name := range condition.Values {
				names = append(names, strings.ToLower(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// researchOperations are the operations of each field.
var researchOperations = map[string][]string{
	"username": {"EQ", "IN"}, "hashtag_name": {"EQ", "IN"}, "keyword": {"EQ", "IN"}, "region_code": {"EQ", "IN"},
	"video_id": {"EQ", "IN"},
	"music_id": {"EQ", "IN"}, "effect_id": {"EQ", "IN"}, "video_length": {"EQ", "IN"},
	"create_date": {"EQ", "IN", "GT", "GTE", "LT", "LTE"},
}

func (c researchCondition) check() error {
	switch {
	case !slices.Contains(researchOperations[c.Field], c.Operation):
		return invalid("The operation " + strconv.Quote(c.Operation) + " on the field " + strconv.Quote(c.Field) +
			" is not supported")
	case len(c.Values) == 0 || c.Operation != "IN" && len(c.Values) > 1:
		return invalid("field_values does not fit the operation")
	}
	return nil
}

// researchVideo is a video and its profile.
type researchVideo struct {
	world.Post

	profile world.Profile
}

// videosOf returns the profile's videos that match.
func (s *researchSearch) videosOf(profile world.Profile) []researchVideo {
	var found []researchVideo
	for _, post := range profile.Posts(s.day) {
		video := researchVideo{post, profile}
		if post.At >= s.from && post.At < s.to && s.matches(video) {
			found = append(found, video)
		}
	}
	return found
}

// matches reports whether all of "and", any of "or" and none of "not" hold.
func (s *researchSearch) matches(video researchVideo) bool {
	holds := func(c researchCondition) bool { return c.matches(video) }
	fails := func(c researchCondition) bool { return !c.matches(video) }
	return !slices.ContainsFunc(s.Query.And, fails) && !slices.ContainsFunc(s.Query.Not, holds) &&
		(len(s.Query.Or) == 0 || slices.ContainsFunc(s.Query.Or, holds))
}

func (c researchCondition) matches(video researchVideo) bool {
	return slices.ContainsFunc(c.Values, func(value string) bool { return c.matchesValue(video, value) })
}

// matchesValue compares one value. Fields that the world lacks never match.
func (c researchCondition) matchesValue(video researchVideo, value string) bool {
	switch c.Field {
	case "username":
		return strings.EqualFold(value, video.profile.Name)
	case "hashtag_name":
		return slices.Contains(video.Tags, strings.ToLower(strings.TrimPrefix(value, "#")))
	case "keyword":
		return strings.Contains(strings.ToLower(video.Caption), strings.ToLower(value))
	case "region_code":
		return value == regionOf(video.profile)
	case "video_id":
		return value == strings.TrimLeft(video.ID, "0")
	case "video_length":
		return value == "SHORT" // all last a few seconds
	case "create_date":
		return compares(c.Operation, strings.Compare(time.Unix(video.At, 0).UTC().Format(researchDate), value))
	}
	return false
}

// compares reports whether an operation holds for the order of two values.
func compares(operation string, order int) bool {
	switch operation {
	case "GT":
		return order > 0
	case "GTE":
		return order >= 0
	case "LT":
		return order < 0
	case "LTE":
		return order <= 0
	}
	return order == 0
}

// regions are the regions of profiles.
var regions = []string{"DE", "ES", "BR", "JP", "EG", "US", "IN", "KR", "TR", "GB"}

func regionOf(p world.Profile) string { return regions[p.Dice("region").IntN(len(regions))] }

// view returns the video in the API's form, with the counts at a time in Unix seconds.
func (v researchVideo) view(now int64) map[string]any {
	figures := v.Metrics(now)
	id, _ := strconv.ParseInt(v.ID, 10, 64) // always 19 digits
	return map[string]any{
		"id": id, "video_description": v.Caption, "create_time": v.At, "region_code": regionOf(v.profile),
		"share_count": figures.Shares,
		"view_count":  figures.Views, "like_count": figures.Likes, "comment_count": figures.Comments,
		"hashtag_names": v.Tags,
		"username":      v.profile.Name, "video_duration": int64(v.File.Seconds),
	}
}
