package post

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
)

// summarizePublication returns that nothing was sent again, for a post that was already submitted; otherwise
// "".
func summarizePublication(already bool, j job.Job) string {
	if !already {
		return ""
	}
	return "the post was already submitted (already_submitted), so nothing was sent again. Its " + j.Summary() + "."
}

// summarizeRetry returns whether anything was sent again, and what was skipped and why.
func summarizeRetry(sent int, skipped []PublicationRetrySkipped, j job.Job) string {
	left := summarizeSkipped(skipped)
	switch {
	case sent == 0 && left == "":
		return "no account has failed, so nothing was sent again. The last " + j.Summary() + "."
	case sent == 0:
		return "nothing was sent again. " + left + " The last " + j.Summary() + "."
	case left == "":
		return ""
	}
	return j.Summary() + ". " + left
}

// summarizeSkipped returns the skipped accounts by reason.
func summarizeSkipped(skipped []PublicationRetrySkipped) string {
	if len(skipped) == 0 {
		return ""
	}
	reasons, named := []string{}, map[string][]string{}
	for _, s := range skipped {
		if named[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		named[s.Reason] = append(named[s.Reason], strconv.FormatInt(s.AccountID, 10))
	}
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s: %d (account %s)", reason, len(named[reason]), strings.Join(named[reason], ", "))
	}
	return fmt.Sprintf("Skipped accounts: %d; %s.", len(skipped), strings.Join(reasons, "; "))
}

// summary returns the state of a post in words.
func (p Record) summary(call operation.Call) string {
	out := p.ID + " is " + string(p.Status)
	if p.Status == Scheduled && !p.IsTemplate {
		out += " for " + call.Moment(p.ScheduledAt).Team
	}
	out += "." + p.summarizeApproval()
	if p.Status == Failed || p.Status == PartiallyPublished {
		out += summarizeFailures(p.Targets)
	}
	return out
}

// summarizeApproval returns how approval keeps a post from going out, or "".
func (p Record) summarizeApproval() string {
	switch p.Approval {
	case Waiting:
		return " It needs the client's approval before it is sent."
	case Rejected:
		return " The client rejected it; it is not sent unless the client approves it."
	case NotNeeded, Approved:
	}
	return ""
}

// refusals are the error codes of content that a network refuses. Sending the same again does not help.
var refusals = []string{"rejected_content", "rejected_media", "duplicate_content", "preflight_blocked"}

// summarizeFailures returns what to do about each failed account. A submitted post cannot be changed, so
// refused content needs another post.
func summarizeFailures(targets []Target) string {
	again, anew, open := []string{}, []string{}, []string{}
	for _, t := range targets {
		one := fmt.Sprintf("account %d (%s)", t.AccountID, t.ErrorCode)
		switch {
		case t.State == TargetUnconfirmed:
			open = append(open, one)
		case t.State == TargetFailed && slices.Contains(refusals, t.ErrorCode):
			anew = append(anew, one)
		case t.State == TargetFailed:
			again = append(again, one)
		}
	}
	var out strings.Builder
	for _, part := range []struct {
		of    []string
		words string
	}{
		{again, "Failed; call retry_post after the cause is fixed"},
		{anew, "Refused because of content or media; create another post for these with create_post"},
		{open, "Unconfirmed; may already be published, so it is not sent again until that is known"},
	} {
		if len(part.of) > 0 {
			out.WriteString(" " + part.words + ": " + strings.Join(part.of, ", ") + ".")
		}
	}
	return out.String()
}

// summarizeProblems counts the problems.
func summarizeProblems(problems []PostProblem) string {
	blocking := 0
	for _, found := range problems {
		if found.Blocking {
			blocking++
		}
	}
	out := ""
	if blocking > 0 {
		out = fmt.Sprintf(" Blocking problems: %d.", blocking)
	}
	if other := len(problems) - blocking; other > 0 {
		out += fmt.Sprintf(" Other problems: %d.", other)
	}
	return out
}

// summarizeValidation returns whether a post could be published as it is.
func (p Record) summarizeValidation(v Validation, only *int64) string {
	if p.Status != Draft && p.Status != Scheduled {
		return "it was already submitted and is " + string(p.Status) + "; it can no longer be changed." +
			summarizeProblems(v.Problems) + summarizeFailures(p.Targets)
	}
	blocked := slices.ContainsFunc(v.Problems, func(found PostProblem) bool { return found.Blocking })
	out := "it would go out as it is"
	switch {
	case blocked || v.WaitsForApproval:
		out = "it would not go out as it is"
	case p.Status == Draft && v.PostsLeftThisMonth == 0:
		out = "it would not go out this month, because the plan's posts are used up"
	}
	if only != nil {
		out = fmt.Sprintf("to account %d %s", *only, out)
	}
	return out + "." + summarizeProblems(v.Problems) + p.summarizeApproval()
}
