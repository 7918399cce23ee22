package result

// FindingScore is the weighted mean of its components, from 0 to 100.
type FindingScore struct {
	Value      float64            `json:"value" min:"0" max:"100"`
	Components []FindingComponent `json:"components"`
}

// FindingComponent is a part of the score.
type FindingComponent struct {
	Name   string  `json:"name" enum:"engagement|reach|growth|activity|consistency|reactions|competition" title:"ScoreComponent"`
	Value  float64 `json:"value" min:"0" max:"100"`
	Weight float64 `json:"weight" min:"0" max:"1" jsonschema:"Weights of the known components sum to 1."`
}

// FindingScoreSection is the score, with the metric and scale of each component.
type FindingScoreSection struct {
	Value      float64                 `json:"value" min:"0" max:"100"`
	Components []FindingComponentCause `json:"components"`
	Missing    []string                `json:"missing" jsonschema:"Unknown components."`
}

// FindingComponentCause is a component of the score with its metric and scale. For a profile, floor maps to 0 and
// ceiling to 100. For a hashtag, worst maps to 0 and best to 100.
type FindingComponentCause struct {
	FindingComponent

	Figure     string   `json:"figure" enum:"rate_by_followers|rate_by_views|views_by_followers|percent_per_month|posts_per_week|evenness|posts_per_day|median_likes|top_likes_by_recent_likes" title:"ScoreMetric"`
	Measured   float64  `json:"measured"`
	Floor      *float64 `json:"floor,omitempty" jsonschema:"Profile: this value and lower values score 0."`
	Ceiling    *float64 `json:"ceiling,omitempty" jsonschema:"Profile: this value and higher values score 100."`
	Scale      string   `json:"scale,omitempty" enum:"linear|logarithmic" title:"ScoreScale"`
	Worst      *float64 `json:"worst,omitempty" jsonschema:"Hashtag: the value that scores 0."`
	Best       *float64 `json:"best,omitempty" jsonschema:"Hashtag: the value that scores 100."`
	FullWeight float64  `json:"full_weight" jsonschema:"Weight if all components are known."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (FindingComponentCause) Descriptions() map[string]string {
	return map[string]string{"scale": "Profile: the scale between these values. Hashtag scales are logarithmic."}
}

// NewScore returns the weighted mean of the known components, or nil if there are none. The weight of missing
// components is distributed over the known components. round rounds the score.
func NewScore(components []FindingComponentCause, missing []string, round func(float64) float64) *FindingScoreSection {
	if len(components) == 0 {
		return nil
	}
	totalWeight, sum := 0.0, 0.0
	for _, c := range components {
		totalWeight += c.FullWeight
	}
	for i := range components {
		c := &components[i]
		c.Weight = Round4(c.FullWeight / totalWeight)
		sum += c.Value * c.FullWeight / totalWeight
	}
	return &FindingScoreSection{Value: round(sum), Components: components, Missing: missing}
}

// Summary returns the score without the metrics and scales of its components. It returns nil if s is nil.
func (s *FindingScoreSection) Summary() *FindingScore {
	if s == nil {
		return nil
	}
	out := FindingScore{Value: s.Value, Components: []FindingComponent{}}
	for _, c := range s.Components {
		out.Components = append(out.Components, c.FindingComponent)
	}
	return &out
}
