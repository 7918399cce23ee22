package result

// Score sums a profile or a hashtag up in a figure from 0 to 100: the weighted mean of its components.
type Score struct {
	Value      float64     `json:"value" min:"0" max:"100"`
	Components []Component `json:"components"`
}

// Component is a part of the score.
type Component struct {
	Name   string  `json:"name" enum:"engagement|reach|growth|activity|consistency|reactions|competition"`
	Value  float64 `json:"value" min:"0" max:"100"`
	Weight float64 `json:"weight" min:"0" max:"1" jsonschema:"Weights of the components that could be computed sum to 1."`
}

// ScoreSection is how the score came about.
type ScoreSection struct {
	Value      float64          `json:"value" min:"0" max:"100"`
	Components []ComponentCause `json:"components"`
	Missing    []string         `json:"missing" jsonschema:"Components that could not be computed. Their weight went to the others."`
}

// ComponentCause is a component with the figure that it was read from and the scale: of a profile, a figure at floor or
// below it is worth 0, one at ceiling or above it 100; of a hashtag by logarithms one at worst 0, one at best 100.
type ComponentCause struct {
	Component

	Figure     string   `json:"figure" enum:"rate_by_followers|rate_by_views|views_by_followers|percent_per_month|posts_per_week|evenness|posts_per_day|median_likes|top_likes_by_recent_likes"`
	Measured   float64  `json:"measured"`
	Floor      *float64 `json:"floor,omitempty" jsonschema:"Of a profile: what is worth 0, as is all below."`
	Ceiling    *float64 `json:"ceiling,omitempty" jsonschema:"Of a profile: what is worth 100, as is all above."`
	Scale      string   `json:"scale,omitempty" enum:"linear|logarithmic" jsonschema:"Of a profile: what lies between. Those of a hashtag are logarithmic."`
	Worst      *float64 `json:"worst,omitempty" jsonschema:"Of a hashtag: what is worth 0."`
	Best       *float64 `json:"best,omitempty" jsonschema:"Of a hashtag: what is worth 100."`
	FullWeight float64  `json:"full_weight" jsonschema:"Its weight where all components can be computed."`
}

// NewScore weighs the components that are known, by their full weights; nil where none is. What is missing has its
// weight spread over them. round is how the score is shown.
func NewScore(known []ComponentCause, missing []string, round func(float64) float64) *ScoreSection {
	if len(known) == 0 {
		return nil
	}
	full, sum := 0.0, 0.0
	for _, c := range known {
		full += c.FullWeight
	}
	for i := range known {
		c := &known[i]
		c.Weight = Round4(c.FullWeight / full)
		sum += c.Value * c.FullWeight / full
	}
	return &ScoreSection{Value: round(sum), Components: known, Missing: missing}
}

// Short is the score without how it came about.
func (s *ScoreSection) Short() *Score {
	if s == nil {
		return nil
	}
	out := Score{Value: s.Value, Components: []Component{}}
	for _, c := range s.Components {
		out.Components = append(out.Components, c.Component)
	}
	return &out
}
