package post

// Forecast is what happens to a scheduled post at its time if nothing changes.
type Forecast struct {
	Refused bool     // a network would refuse it, so nothing is sent
	Goes    []Target // accounts that it is sent to
	Fails   []Target // disconnected accounts
}

// Predict returns what Release would do with a post. A refusal by one network stops the post for every account,
// but a disconnected account fails individually. Approval and plan limits are not considered. The language is
// the team's, as BCP 47.
func (s *Service) Predict(p Record, language string) Forecast {
	var out Forecast
	for _, t := range p.Targets {
		for _, found := range s.contentProblems(p, t, language) {
			out.Refused = out.Refused || found.Blocking
		}
		if t.Active {
			out.Goes = append(out.Goes, t)
		} else {
			out.Fails = append(out.Fails, t)
		}
	}
	return out
}
