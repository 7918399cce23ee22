package result

// Score is the weighted mean of its components, from 0 to 100.
type Score struct {
	Value      float64     `json:"value" min:"0" max:"100"`
	Components []Component `json:"components"`
}

// Component is a part of the score.
type Component struct {
	Name   string  `json:"name" enum:"engagement|reach|growth|activity|consistency|reactions|competition"`
	Value  float64 `json:"value" min:"0" max:"100"`
	Weight float64 `json:"weight" min:"0" max:"1" jsonschema:"Weights of the known components sum to 1."`
}

// ScoreSection explains the score.
type ScoreSection struct {
	Value      float64          `json:"value" min:"0" max:"100"`
	Components []ComponentCause `json:"components"`
	Missing    []string         `json:"missing" jsonschema:"Unknown components."`
}

// ComponentCause is a component with its figure and scale. For a profile, floor maps to 0 and ceiling to 100; for a
// hashtag, worst maps to 0 and best to 100.
type ComponentCause struct {
	Component

	Figure     string   `json:"figure" enum:"rate_by_followers|rate_by_views|views_by_followers|percent_per_month|posts_per_week|evenness|posts_per_day|median_likes|top_likes_by_recent_likes"`
	Measured   float64  `json:"measured"`
	Floor      *float64 `json:"floor,omitempty" jsonschema:"Profile: scores 0, as do lower figures."`
	Ceiling    *float64 `json:"ceiling,omitempty" jsonschema:"Profile: scores 100, as do higher figures."`
	Scale      string   `json:"scale,omitempty" enum:"linear|logarithmic" jsonschema:"Profile: the scale in between. Hashtag scales are logarithmic."`
	Worst      *float64 `json:"worst,omitempty" jsonschema:"Hashtag: scores 0."`
	Best       *float64 `json:"best,omitempty" jsonschema:"Hashtag: scores 100."`
	FullWeight float64  `json:"full_weight" jsonschema:"Weight if all components are known."`
}

// NewScore returns the weighted score, or nil if no component is known. The weight of missing components is distributed
// over the others. round rounds the score.
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

// Short returns the score without explanation.
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
