package post

// Forecast is what becomes of a scheduled post at its time, if it stays as it is.
type Forecast struct {
	Refused bool     // a network would not take it, so that nothing of it goes out
	Goes    []Target // the accounts that it goes out to
	Fails   []Target // those that have no connection
}

// Predict tells it by what Release looks at. What an account's network would not take keeps the post from every account,
// but an account without a connection fails by itself and the others go out. That the client's approval or the plan stands
// in its way is not told. The language is the team's, BCP 47.
func (s *Service) Predict(p Post, language string) Forecast {
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
