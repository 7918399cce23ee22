package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	minHashtagPosts     = 5  // minimum number of posts with a hashtag, and of posts without it, for a ratio
	maxComparedHashtags = 24 // maximum number of hashtags in the model
	postsPerHashtag     = 10 // minimum number of posts for each hashtag in the model
	minCurvedTrend      = 60 // minimum number of posts for a quadratic trend
)

// layout assigns the columns of the model. -1 means no column.
type layout struct {
	blocks   [blocks]int
	trend    []int
	formats  map[string]int
	hashtags map[int]int // by index in profile.hashtags; the first of each group
	columns  int
}

// optional returns the columns that may be dropped if they are uninformative.
func (l layout) optional() []int {
	columns := slices.Sorted(maps.Values(l.hashtags))
	if len(l.trend) > 1 {
		columns = append(columns, l.trend[1])
	}
	return columns
}

// comparableHashtags returns the most used hashtags that can be compared, as many as the number of posts allows.
// Hashtags that always occur together form a group, because their effects cannot be separated.
func (e *effects) comparableHashtags() [][]int {
	postsByTag := make([][]int32, len(e.profile.hashtags))
	for i, p := range e.comparedPosts {
		for _, tag := range p.hashtags {
			postsByTag[tag] = append(postsByTag[tag], int32(i))
		}
	}
	var tags []int
	for tag, posts := range postsByTag {
		if len(posts) >= minHashtagPosts && len(e.comparedPosts)-len(posts) >= minHashtagPosts {
			tags = append(tags, tag)
		}
	}
	slices.SortFunc(tags, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(postsByTag[b]), len(postsByTag[a])), slices.Compare(postsByTag[a], postsByTag[b]), cmp.Compare(a, b))
	})
	var groups [][]int
	for i, tag := range tags {
		if i > 0 && slices.Equal(postsByTag[tag], postsByTag[tags[i-1]]) {
			groups[len(groups)-1] = append(groups[len(groups)-1], tag)
			e.hasConfounded = true
			continue
		}
		if len(groups) == min(maxComparedHashtags, len(e.comparedPosts)/postsPerHashtag) {
			break
		}
		groups = append(groups, []int{tag})
	}
	return groups
}

// newLayout assigns a column to each term. linearTrend omits the quadratic term of the trend.
func (e *effects) newLayout(tags [][]int, linearTrend bool) layout {
	out := layout{formats: map[string]int{}, hashtags: map[int]int{}}
	addColumn := func() int { out.columns++; return out.columns - 1 }
	for b := range out.blocks {
		out.blocks[b] = -1
		if e.blocks[b].posts > 0 {
			out.blocks[b] = addColumn()
		}
	}
	out.trend = []int{addColumn()}
	if !linearTrend {
		out.trend = append(out.trend, addColumn())
	}
	for i, format := range e.formats {
		out.formats[format.name] = -1 // the most used format is the reference level
		if i > 0 {
			out.formats[format.name] = addColumn()
		}
	}
	for _, group := range tags {
		out.hashtags[group[0]] = addColumn()
	}
	return out
}

// model returns the model of log engagement. On this scale, ratios are additive and viral posts are moderate outliers.
// Half a reaction is added because the logarithm of 0 is undefined.
func (e *effects) model() linearModel {
	out := linearModel{columns: e.layout.columns, rows: make([][]entry, len(e.comparedPosts)),
		y: make([]float64, len(e.comparedPosts))}
	first := e.comparedPosts[0].TakenAt
	totalSeconds := e.comparedPosts[len(e.comparedPosts)-1].TakenAt.Sub(first).Seconds()
	for i, p := range e.comparedPosts {
		row := make([]entry, 0, len(p.hashtags)+4)
		row = append(row, entry{e.layout.blocks[e.blockByPost[i]], 1})
		if totalSeconds > 0 {
			position := 2*p.TakenAt.Sub(first).Seconds()/totalSeconds - 1
			for power, column := range e.layout.trend {
				row = append(row, entry{column, math.Pow(position, float64(power+1))})
			}
		}
		if column := e.layout.formats[p.format]; column >= 0 {
			row = append(row, entry{column, 1})
		}
		for _, tag := range p.hashtags {
			if column, compared := e.layout.hashtags[tag]; compared {
				row = append(row, entry{column, 1})
			}
		}
		out.rows[i] = row
		out.y[i] = math.Log(p.engagement + 0.5)
	}
	return out
}
