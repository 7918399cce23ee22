package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

const (
	minHashtagPosts     = 5  // posts with a hashtag, and posts without, below which it has no ratio
	maxComparedHashtags = 24 // hashtags that are compared
	postsPerHashtag     = 10 // posts that there are for each hashtag that is compared
	minCurvedTrend      = 60 // posts from which on the trend may be curved
)

// layout says which columns of the model stand for what; -1 is none.
type layout struct {
	blocks   [blocks]int
	trend    []int
	formats  map[string]int
	hashtags map[int]int // by their place in figures.hashtags
	columns  int
}

// optional lists the columns that may be left out where they explain nothing.
func (l layout) optional() []int {
	columns := slices.Sorted(maps.Values(l.hashtags))
	if len(l.trend) > 1 {
		columns = append(columns, l.trend[1])
	}
	return columns
}

// comparableHashtags are the hashtags that can be compared, the most used first, as many as there are posts for. Hashtags
// that always come together stand in one group: nobody can tell what each of them does.
func (e *effects) comparableHashtags() [][]int {
	users := make([][]int32, len(e.all.hashtags))
	for i, p := range e.compared {
		for _, tag := range p.hashtags {
			users[tag] = append(users[tag], int32(i))
		}
	}
	var tags []int
	for tag, posts := range users {
		if len(posts) >= minHashtagPosts && len(e.compared)-len(posts) >= minHashtagPosts {
			tags = append(tags, tag)
		}
	}
	slices.SortFunc(tags, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(users[b]), len(users[a])), slices.Compare(users[a], users[b]), cmp.Compare(a, b))
	})
	var groups [][]int
	for i, tag := range tags {
		if i > 0 && slices.Equal(users[tag], users[tags[i-1]]) {
			groups[len(groups)-1] = append(groups[len(groups)-1], tag)
			e.hasConfounded = true
			continue
		}
		if len(groups) == min(maxComparedHashtags, len(e.compared)/postsPerHashtag) {
			break
		}
		groups = append(groups, []int{tag})
	}
	return groups
}

// newLayout gives everything that may matter its column.
func (e *effects) newLayout(tags [][]int, straight bool) layout {
	out := layout{formats: map[string]int{}, hashtags: map[int]int{}}
	column := func() int { out.columns++; return out.columns - 1 }
	for b := range out.blocks {
		out.blocks[b] = -1
		if e.blocks[b].posts > 0 {
			out.blocks[b] = column()
		}
	}
	out.trend = []int{column()}
	if !straight {
		out.trend = append(out.trend, column())
	}
	for i, format := range e.formats {
		out.formats[format.name] = -1 // the most used is what the others are measured against
		if i > 0 {
			out.formats[format.name] = column()
		}
	}
	for _, group := range tags {
		out.hashtags[group[0]] = column()
	}
	return out
}

// model explains the logarithm of engagement: ratios then add up, and a post that went viral is some steps away, not
// worlds. Half a reaction is added, so that none at all has a logarithm too.
func (e *effects) model() linearModel {
	out := linearModel{columns: e.layout.columns, rows: make([][]entry, len(e.compared)), y: make([]float64, len(e.compared))}
	first := e.compared[0].TakenAt
	whole := e.compared[len(e.compared)-1].TakenAt.Sub(first).Seconds()
	for i, p := range e.compared {
		row := make([]entry, 0, len(p.hashtags)+4)
		row = append(row, entry{e.layout.blocks[e.block[i]], 1})
		if whole > 0 {
			place := 2*p.TakenAt.Sub(first).Seconds()/whole - 1
			for power, column := range e.layout.trend {
				row = append(row, entry{column, math.Pow(place, float64(power+1))})
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
