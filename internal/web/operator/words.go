package operator

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/job"
	"pressroom/internal/web/shell"
)

// sentence returns a message of the command line as a sentence, with a capital letter and a period.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// limitWords describes a daily limit in credits. nil means the plan's limit.
func limitWords(credits *int64) string {
	switch {
	case credits == nil:
		return "limit of the plan"
	case *credits == plan.Unlimited:
		return "no limit"
	case *credits == 0:
		return "none"
	}
	return shell.Plural(*credits, "credit", "credits")
}

var actions = map[access.PauseAction]string{
	access.PauseAPI: "The API", access.PauseEverything: "Everything", access.PauseSpending: "Spending",
	access.PausePublishing: "Publishing",
}

func pausedWords(a access.PauseAction) string { return actions[a] }

var phases = map[string]string{
	"planned": "Waiting", "prepared": "Prepared at the network", "committing": "Publishing",
	"doubtful": "Checking the outcome", "linking": "Published; fetching the link",
	"finishing": "Published; setting the thumbnail or playlist",
}

func phaseWords(phase string) string {
	if text, ok := phases[phase]; ok {
		return text
	}
	return phase
}

var circuits = map[delivery.CircuitState]string{
	delivery.Closed: "OK", delivery.HalfOpen: "Recovering: testing with one delivery",
	delivery.Open: "Failing: deliveries are paused",
}

func circuitWords(s delivery.CircuitState) string { return circuits[s] }

var jobs = map[job.Type]string{
	job.ProfileReport: "Profile report", job.HashtagReport: "Hashtag report", job.SocialPost: "Publishing a post",
	job.HashtagSearch: "Hashtag search",
	job.MediaImport:   "Upload or import", job.ContentFetch: "Download of a profile’s media",
}

func jobWords(t job.Type) string {
	if text, ok := jobs[t]; ok {
		return text
	}
	return string(t)
}
