package post

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/job"
)

// summarizePublication says of a post that was handed over before that nothing was sent again; else the job says it all.
func summarizePublication(already bool, j job.Entry) string {
	if !already {
		return ""
	}
	return "the post was handed over before (already_submitted), so nothing was sent again. Its " + j.Summary() + "."
}

// summarizeRetry says whether anything was sent again, and what was left alone and why.
func summarizeRetry(sent int, skipped []Skip, j job.Entry) string {
	left := summarizeSkipped(skipped)
	switch {
	case sent == 0 && left == "":
		return "nothing was sent again, as no account failed. The last " + j.Summary() + "."
	case sent == 0:
		return "nothing was sent again. " + left + " The last " + j.Summary() + "."
	case left == "":
		return ""
	}
	return j.Summary() + ". " + left
}

// summarizeSkipped counts the accounts that were left alone by the reason, and names them.
func summarizeSkipped(skipped []Skip) string {
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
	return fmt.Sprintf("Accounts left alone: %d; %s.", len(skipped), strings.Join(reasons, "; "))
}

// summary tells how a post stands, with what its state alone does not tell.
func (p Post) summary(call operation.Call) string {
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

// summarizeApproval says where the client keeps a post from going out.
func (p Post) summarizeApproval() string {
	switch p.Approval {
	case Waiting:
		return " It waits for the client's approval and is not sent before it."
	case Rejected:
		return " The client rejected it, and it is not sent before the client approves it."
	case NotNeeded, Approved:
	}
	return ""
}

// refusals are the codes by which a network would take something else, but not this: sending the same again is of no use.
var refusals = []string{"rejected_content", "rejected_media", "duplicate_content", "preflight_blocked"}

// summarizeFailures says of each account that failed what the way on is. A post that was handed over is not changed any
// more, so that what a network refused goes out as another post.
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
		{again, "Failed, for retry_post once the cause is mended"},
		{anew, "Refused for the content or media, which cannot be changed in this post; create_post makes another for these alone"},
		{open, "May be there already and is sent again by nobody before that is known"},
	} {
		if len(part.of) > 0 {
			out.WriteString(" " + part.words + ": " + strings.Join(part.of, ", ") + ".")
		}
	}
	return out.String()
}

// summarizeProblems counts what the networks would not take.
func summarizeProblems(problems []Problem) string {
	blocking := 0
	for _, found := range problems {
		if found.Blocking {
			blocking++
		}
	}
	out := ""
	if blocking > 0 {
		out = fmt.Sprintf(" Problems that block it: %d.", blocking)
	}
	if other := len(problems) - blocking; other > 0 {
		out += fmt.Sprintf(" Problems worth telling that do not block it: %d.", other)
	}
	return out
}

// summarizeValidation says whether a post would go out as it is.
func (p Post) summarizeValidation(v Validation, only *int64) string {
	if p.Status != Draft && p.Status != Scheduled {
		return "it was handed over before and is " + string(p.Status) + "; it cannot be changed any more." + summarizeProblems(v.Problems) + summarizeFailures(p.Targets)
	}
	blocked := slices.ContainsFunc(v.Problems, func(found Problem) bool { return found.Blocking })
	out := "it would go out as it is"
	switch {
	case blocked || v.WaitsForApproval:
		out = "it would not go out as it is"
	case p.Status == Draft && v.PostsLeftThisMonth == 0:
		out = "it would not go out this month, whose posts are used up"
	}
	if only != nil {
		out = fmt.Sprintf("to account %d %s", *only, out)
	}
	return out + "." + summarizeProblems(v.Problems) + p.summarizeApproval()
}
