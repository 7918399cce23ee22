package post

// PreflightResult predicts what happens to a scheduled post when it is due.
type PreflightResult struct {
	Rejected     bool     // a network would reject the post, so nothing is sent
	Connected    []Target // accounts that the post is sent to
	Disconnected []Target // disconnected accounts, which fail
}

// Preflight returns what Release would do with a post. If one network rejects the post, it is not sent to any account.
// A disconnected account fails, but does not stop the others. Preflight ignores approval and plan limits. language is
// the team's BCP 47 language tag.
func (s *Service) Preflight(p Record, language string) PreflightResult {
	var out PreflightResult
	for _, t := range p.Targets {
		for _, problem := range s.contentProblems(p, t, language) {
			out.Rejected = out.Rejected || problem.Blocking
		}
		if t.Active {
			out.Connected = append(out.Connected, t)
		} else {
			out.Disconnected = append(out.Disconnected, t)
		}
	}
	return out
}
