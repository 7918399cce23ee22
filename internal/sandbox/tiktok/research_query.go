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
	StartDate string `json:"start_date"` // in UTC, such as 20261121
	EndDate   string `json:"end_date"`
	MaxCount  *int   `json:"max_count"`
	Cursor    int    `json:"cursor"`
	SearchID  string `json:"search_id"`

	from, to int64 // Unix seconds; to is exclusive
	day      int64 // day on which the search started
}

type researchCondition struct {
	Operation string   `json:"operation"`
	Field     string   `json:"field_name"`
	Values    []string `json:"field_values"`
}

const (
	researchDateLayout  = "20060102"
	researchWindow      = 30 // days
	researchPageSize    = 20
	maxResearchPageSize = 100 // videos per page
)

// check validates the search and resolves its dates.
func (s *researchSearch) check(today int64) error {
	first, err := time.Parse(researchDateLayout, s.StartDate)
	if err != nil {
		return invalidParams("start_date must be a day in the format YYYYMMDD")
	}
	last, err := time.Parse(researchDateLayout, s.EndDate)
	if err != nil || last.Before(first) || last.Sub(first) > researchWindow*24*time.Hour {
		return invalidParams("end_date must be a day in the format YYYYMMDD, at most 30 days after start_date")
	}
	s.from, s.to = first.Unix(), last.Unix()+world.SecondsPerDay
	if count := s.limit(); count < 1 || count > maxResearchPageSize || s.Cursor < 0 {
		return invalidParams("max_count must be from 1 to 100, and cursor not negative")
	}
	if len(s.Query.And)+len(s.Query.Or)+len(s.Query.Not) == 0 {
		return invalidParams("query must contain a condition")
	}
	for _, condition := range s.conditions() {
		if err := condition.check(); err != nil {
			return err
		}
	}
	if len(s.usernames()) == 0 {
		return invalidParams("This sandbox requires a condition EQ or IN on username")
	}
	return s.resume(today)
}

// resume starts a search. If the request has a search_id, resume continues that search, with the data of the day on
// which the search started.
func (s *researchSearch) resume(today int64) error {
	s.day = today
	if s.SearchID == "" {
		if s.Cursor > 0 {
			return invalidParams("search_id is required with cursor")
		}
		s.SearchID = s.id(today)
		return nil
	}
	for ; s.day > today-world.CursorDays; s.day-- {
		if s.SearchID == s.id(s.day) {
			return nil
		}
	}
	return invalidParams("Search Id is invalid or expired")
}

// id returns the search_id for this search if it started on the given day.
func (s *researchSearch) id(day int64) string {
	sum := fnv.New64a()
	for _, part := range []string{s.StartDate, s.EndDate, strconv.FormatInt(day, 10)} {
		_, _ = sum.Write([]byte(part + " ")) // Write never fails
	}
	for _, condition := range s.conditions() {
		_, _ = sum.Write([]byte(condition.Operation + condition.Field + strings.Join(condition.Values, ",") + ";"))
	}
	return "7" + strconv.FormatUint(sum.Sum64()>>4, 10)
}

func (s *researchSearch) limit() int {
	if s.MaxCount == nil {
		return researchPageSize
	}
	return *s.MaxCount
}

func (s *researchSearch) conditions() []researchCondition {
	return slices.Concat(s.Query.And, s.Query.Or, s.Query.Not)
}

// usernames returns the names of the profiles whose videos may match.
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

// researchOperations maps each field to the operations that it supports.
var researchOperations = map[string][]string{
	"username": {"EQ", "IN"}, "hashtag_name": {"EQ", "IN"}, "keyword": {"EQ", "IN"}, "region_code": {"EQ", "IN"},
	"video_id": {"EQ", "IN"},
	"music_id": {"EQ", "IN"}, "effect_id": {"EQ", "IN"}, "video_length": {"EQ", "IN"},
	"create_date": {"EQ", "IN", "GT", "GTE", "LT", "LTE"},
}

func (c researchCondition) check() error {
	switch {
	case !slices.Contains(researchOperations[c.Field], c.Operation):
		return invalidParams("The operation " + strconv.Quote(c.Operation) + " on the field " + strconv.Quote(c.Field) +
			" is not supported")
	case len(c.Values) == 0 || c.Operation != "IN" && len(c.Values) > 1:
		return invalidParams("field_values does not match the operation")
	}
	return nil
}

// researchVideo is a video with its profile.
type researchVideo struct {
	world.Post

	profile world.Profile
}

// findVideos returns the videos of a profile that match.
func (s *researchSearch) findVideos(profile world.Profile) []researchVideo {
	var videos []researchVideo
	for _, post := range profile.Posts(s.day) {
		video := researchVideo{post, profile}
		if post.At >= s.from && post.At < s.to && s.matches(video) {
			videos = append(videos, video)
		}
	}
	return videos
}

// matches reports whether a video matches all conditions of "and", at least one of "or" and none of "not".
func (s *researchSearch) matches(video researchVideo) bool {
	matches := func(c researchCondition) bool { return c.matches(video) }
	differs := func(c researchCondition) bool { return !c.matches(video) }
	return !slices.ContainsFunc(s.Query.And, differs) && !slices.ContainsFunc(s.Query.Not, matches) &&
		(len(s.Query.Or) == 0 || slices.ContainsFunc(s.Query.Or, matches))
}

func (c researchCondition) matches(video researchVideo) bool {
	return slices.ContainsFunc(c.Values, func(value string) bool { return c.matchesValue(video, value) })
}

// matchesValue reports whether the video's field matches a value. It returns false for fields that the sandbox does not
// have.
func (c researchCondition) matchesValue(video researchVideo, value string) bool {
	switch c.Field {
	case "username":
		return strings.EqualFold(value, video.profile.Name)
	case "hashtag_name":
		return slices.Contains(video.Tags, strings.ToLower(strings.TrimPrefix(value, "#")))
	case "keyword":
		return strings.Contains(strings.ToLower(video.Caption), strings.ToLower(value))
	case "region_code":
		return value == profileRegion(video.profile)
	case "video_id":
		return value == strings.TrimLeft(video.ID, "0")
	case "video_length":
		return value == "SHORT" // every video lasts only a few seconds
	case "create_date":
		return satisfies(c.Operation, strings.Compare(time.Unix(video.At, 0).UTC().Format(researchDateLayout), value))
	}
	return false
}

// satisfies reports whether order satisfies an operation. order is the result of a comparison.
func satisfies(operation string, order int) bool {
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

var regions = []string{"DE", "ES", "BR", "JP", "EG", "US", "IN", "KR", "TR", "GB"}

func profileRegion(p world.Profile) string { return regions[p.NewRand("region").IntN(len(regions))] }

// view returns the video in the API's format, with its metrics at the time now, in Unix seconds.
func (v researchVideo) view(now int64) map[string]any {
	metrics := v.Metrics(now)
	id, _ := strconv.ParseInt(v.ID, 10, 64) // always 19 digits
	return map[string]any{
		"id": id, "video_description": v.Caption, "create_time": v.At, "region_code": profileRegion(v.profile),
		"share_count": metrics.Shares,
		"view_count":  metrics.Views, "like_count": metrics.Likes, "comment_count": metrics.Comments,
		"hashtag_names": v.Tags,
		"username":      v.profile.Name, "video_duration": int64(v.File.Seconds),
	}
}
