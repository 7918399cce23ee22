package operator

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/core/plan"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// sentence makes one of a text that the command line shows: with a capital and a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// limitWords is a number of credits in a day; nil is what the plan says.
func limitWords(credits *int64) string {
	switch {
	case credits == nil:
		return "as the plan says"
	case *credits == plan.Unlimited:
		return "no limit"
	case *credits == 0:
		return "none"
	}
	return shell.Plural(*credits, "credit", "credits")
}

var actions = map[team.Action]string{
	team.API: "The API", team.Everything: "Everything", team.Spending: "Spending", team.Publishing: "Publishing",
}

func pausedWords(a team.Action) string { return actions[a] }

var phases = map[string]string{
	"planned": "Waiting to begin", "prepared": "Prepared at the network", "committing": "Being published",
	"doubtful": "Being asked for at the network", "linking": "Published, its address is looked for",
}

func phaseWords(phase string) string {
	if text, ok := phases[phase]; ok {
		return text
	}
	return phase
}

var circuits = map[delivery.CircuitState]string{
	delivery.Closed: "Well", delivery.HalfOpen: "Failed: one delivery tries it again",
	delivery.Open: "Fails: deliveries rest",
}

func circuitWords(s delivery.CircuitState) string { return circuits[s] }

var jobs = map[job.Type]string{
	job.ProfileReport: "Profile report", job.HashtagReport: "Hashtag report", job.SocialPost: "Publishing a post",
	job.HashtagSearch: "Hashtag search",
	job.MediaImport:   "Files coming in", job.ContentFetch: "Download of a profile’s media",
}

func jobWords(t job.Type) string {
	if text, ok := jobs[t]; ok {
		return text
	}
	return string(t)
}
