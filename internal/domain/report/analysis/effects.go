package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/report/result"
)

const (
	minCompared   = 30 // minimum number of posts for any comparison
	minLevelPosts = 3  // minimum number of posts of a block or format for a ratio

	halfBlocks = 6 // number of blocks on weekdays, and on weekends
	blocks     = 2 * halfBlocks
	blockHours = 4
)

// effects are the associations of each factor with engagement, adjusted for the other factors.
type effects struct {
	profile             *profile
	comparedPosts       []*post   // counted posts with a time, oldest first
	fit                 *solution // nil if the posts cannot be compared
	blockByPost         []int     // of each compared post
	layout              layout
	blocks              [blocks]level
	times               []levelEffect // blocks with a ratio
	formats             []level
	hashtags            map[int]result.FindingRatio // by index in profile.hashtags
	significantHashtags map[int]bool                // by index in profile.hashtags
	hasConfounded       bool                        // whether some hashtags always occur together
}

// level is a value of a categorical variable: a block of time or a format.
type level struct {
	name          string
	posts         int
	ratio         *result.FindingRatio
	isSignificant bool // whether the ratio is significant
}

// estimate fits the model to the posts whose engagement and time are known, and estimates the effects. With too few
// posts, it only counts them.
func estimate(prof *profile) *effects {
	out := &effects{profile: prof, hashtags: map[int]result.FindingRatio{}, significantHashtags: map[int]bool{}}
	for i := range prof.posts {
		if p := &prof.posts[i]; p.isCounted && p.hasTime {
			out.comparedPosts = append(out.comparedPosts, p)
			block := blockOf(p.TakenAt.In(prof.zone))
			out.blockByPost = append(out.blockByPost, block)
			out.blocks[block].posts++
		}
	}
	out.formats = countFormats(out.comparedPosts)
	if len(out.comparedPosts) < minCompared {
		return out
	}
	tags := out.comparableHashtags()
	out.layout = out.newLayout(tags, len(out.comparedPosts) < minCurvedTrend)
	fit, ok := out.model().solve(true)
	if !ok || fit.degreesOfFreedom < minSpareDF {
		return out
	}
	out.fit = fit
	out.compareFormats()
	hashtags := out.compareHashtags(tags)
	out.times = out.compareBlocks(tags)
	out.markSignificant(slices.Clone(out.times), hashtags, tags)
	return out
}

// blockOf returns the block of a time. There are six blocks of four hours on Monday to Friday, followed by six on
// Saturday and Sunday.
func blockOf(at time.Time) int {
	block := at.Hour() / blockHours
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		return halfBlocks + block
	}
	return block
}

// countFormats returns the formats, most used first. Unknown formats have no name.
func countFormats(posts []*post) []level {
	count := map[string]int{}
	for _, p := range posts {
		count[p.format]++
	}
	var out []level
	for name, n := range count {
		out = append(out, level{name: name, posts: n})
	}
	slices.SortFunc(out, func(a, b level) int {
		return cmp.Or(cmp.Compare(b.posts, a.posts),
			cmp.Compare(a.name, b.name))
	})
	return out
}

// contrastWeights returns the weights of the contrast between a level and the mean of all other levels. The mean is
// weighted by the number of posts of each level.
func contrastWeights(levels []level, columns []int, index, size int) []float64 {
	weights := make([]float64, size)
	otherPosts := 0
	for i, l := range levels {
		if i != index {
			otherPosts += l.posts
		}
	}
	for i, l := range levels {
		switch {
		case columns[i] < 0:
		case i == index:
			weights[columns[i]] = 1
		default:
			weights[columns[i]] = -float64(l.posts) / float64(otherPosts)
		}
	}
	return weights
}

// compareLevels sets the ratio of each level to all other levels and returns the effects. It skips levels with too few
// posts and imprecise effects.
func (e *effects) compareLevels(levels []level, columns []int) []levelEffect {
	var levelEffects []levelEffect
	for i, l := range levels {
		if l.posts < minLevelPosts || len(e.comparedPosts)-l.posts < minLevelPosts {
			continue
		}
		if effect, ok := e.fit.contrast(contrastWeights(levels, columns, i, e.layout.columns)); ok &&
			e.isPrecise(effect) {
			levelEffects = append(levelEffects, levelEffect{effect: effect, index: i, posts: l.posts})
		}
	}
	tau := heterogeneity(levelEffects)
	for _, le := range levelEffects {
		levels[le.index].ratio = new(e.ratio(le.effect, tau))
	}
	return levelEffects
}

// compareBlocks compares the blocks of time. It first drops uninformative columns, which reduce precision. It keeps the
// full model's residual variance and degrees of freedom, because the columns were selected on the same data.
func (e *effects) compareBlocks(groups [][]int) []levelEffect {
	if uninformativeColumns := e.fit.uninformativeColumns(e.layout.optional()); len(uninformativeColumns) > 0 {
		keptGroups := slices.DeleteFunc(slices.Clone(groups), func(group []int) bool {
			return slices.Contains(uninformativeColumns, e.layout.hashtags[group[0]])
		})
		linearTrend := len(e.layout.trend) == 1 || slices.Contains(uninformativeColumns, e.layout.trend[1])
		e.layout = e.newLayout(keptGroups, linearTrend)
		fit, ok := e.model().solve(true)
		if !ok {
			return nil
		}
		fit.scale, fit.degreesOfFreedom, fit.quantile = e.fit.scale, e.fit.degreesOfFreedom, e.fit.quantile
		e.fit = fit
	}
	return e.compareLevels(e.blocks[:], e.layout.blocks[:])
}

func (e *effects) compareFormats() {
	columns := make([]int, len(e.formats))
	for i, format := range e.formats {
		columns[i] = e.layout.formats[format.name]
	}
	e.compareLevels(e.formats, columns)
}

// compareHashtags sets the ratios of the hashtags in each group and returns the effects. The index of an effect is the
// index of its group.
func (e *effects) compareHashtags(groups [][]int) []levelEffect {
	var levelEffects []levelEffect
	for i, group := range groups {
		weights := make([]float64, e.layout.columns)
		weights[e.layout.hashtags[group[0]]] = 1
		if effect, ok := e.fit.contrast(weights); ok && e.isPrecise(effect) {
			levelEffects = append(levelEffects, levelEffect{effect: effect, index: i})
		}
	}
	tau := heterogeneity(levelEffects)
	for _, le := range levelEffects {
		for _, tag := range groups[le.index] {
			e.hashtags[tag] = e.ratio(le.effect, tau)
		}
	}
	return levelEffects
}

// levelEffect is the effect of a level or of a group of hashtags, with its index.
type levelEffect struct {
	effect

	index, posts int
}

// isPrecise reports whether an effect is precise enough to report.
func (e *effects) isPrecise(eff effect) bool {
	return math.Abs(eff.log)+e.fit.quantile*eff.stdErr < 2*math.Log(result.MaxRatio) && e.fit.quantile*eff.stdErr < math.Log(
		result.MaxRatio)
}

// heterogeneity estimates the standard deviation of the true effects around 0 with the moment estimator of DerSimonian
// and Laird (1986).
func heterogeneity(levelEffects []levelEffect) float64 {
	excess, weight := 0.0, 0.0
	for _, le := range levelEffects {
		variance := le.stdErr * le.stdErr
		excess += le.log*le.log/variance - 1
		weight += 1 / variance
	}
	if excess <= 0 {
		return 0
	}
	return math.Sqrt(excess / weight)
}

// ratio converts an effect to a ratio with its confidence interval and a shrinkage estimate for the heterogeneity tau
// (empirical Bayes; Efron and Morris, 1975).
func (e *effects) ratio(eff effect, tau float64) result.FindingRatio {
	halfWidth := e.fit.quantile * eff.stdErr
	shrinkage := tau * tau / (tau*tau + eff.stdErr*eff.stdErr)
	return result.FindingRatio{
		Value: result.Round4(math.Exp(eff.log)), Low: result.Round4(math.Exp(eff.log - halfWidth)),
		High:   result.Round4(math.Exp(eff.log + halfWidth)),
		Shrunk: new(result.Round4(math.Exp(shrinkage * eff.log))),
	}
}
