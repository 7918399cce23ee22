package post

import (
	"fmt"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/post/summary"
)

// summarizePublication returns a summary for a post that was already submitted, and "" for other posts.
func summarizePublication(already bool, j job.Job) string {
	if !already {
		return ""
	}
	return "the post was already submitted (already_submitted), so nothing was sent again. Its " + j.Summary() + "."
}

// summarizeRetry returns a summary of a retry that skipped accounts or sent nothing, and "" otherwise.
func summarizeRetry(sent int, skipped []PublicationRetrySkipped, j job.Job) string {
	skippedText := summarizeSkipped(skipped)
	switch {
	case sent == 0 && skippedText == "":
		return "no account has failed, so nothing was sent again. The last " + j.Summary() + "."
	case sent == 0:
		return "nothing was sent again. " + skippedText + " The last " + j.Summary() + "."
	case skippedText == "":
		return ""
	}
	return j.Summary() + ". " + skippedText
}

// summarizeSkipped lists the skipped accounts by reason.
func summarizeSkipped(skipped []PublicationRetrySkipped) string {
	reasons, accounts := []string{}, map[string][]string{}
	for _, s := range skipped {
		if accounts[s.Reason] == nil {
			reasons = append(reasons, s.Reason)
		}
		accounts[s.Reason] = append(accounts[s.Reason], strconv.FormatInt(s.AccountID, 10))
	}
	return summary.SkippedAccounts(accounts, reasons)
}

// summary describes the state of a post.
func (p Record) summary(call operation.Call) string {
	out := p.ID + " is " + string(p.Status)
	if p.Status == Scheduled && !p.IsTemplate {
		out += " for " + call.Moment(p.ScheduledAt).Team
	}
	out += "." + p.summarizeApproval()
	if p.Status == Failed || p.Status == PartiallyPublished {
		out += p.summarizeFailures()
	}
	return out
}

// summarizeApproval explains why approval prevents publication, or returns "" if it does not.
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

// summarizeValidation describes whether a post could be published as it is.
func (p Record) summarizeValidation(v Validation, accountID *int64) string {
	if p.Status != Draft && p.Status != Scheduled {
		return "it was already submitted and is " + string(p.Status) + "; it can no longer be changed." +
			summarizeProblems(v.Problems) + p.summarizeFailures()
	}
	blocked := slices.ContainsFunc(v.Problems, func(problem PostProblem) bool { return problem.Blocking })
	out := "it would go out as it is"
	switch {
	case blocked || v.WaitsForApproval:
		out = "it would not go out as it is"
	case p.Status == Draft && v.PostsLeftThisMonth == 0:
		out = "it would not go out this month, because the plan's posts are used up"
	}
	if accountID != nil {
		out = fmt.Sprintf("to account %d %s", *accountID, out)
	}
	return out + "." + summarizeProblems(v.Problems) + p.summarizeApproval()
}

// summarizeFailures explains what to do about each failed account.
func (p Record) summarizeFailures() string {
	var failed []summary.Failure
	for _, t := range p.Targets {
		if t.State == TargetUnconfirmed || t.State == TargetFailed {
			failed = append(failed, summary.Failure{Account: t.AccountID, Code: t.ErrorCode, Unconfirmed: t.State == TargetUnconfirmed})
		}
	}
	return summary.Failures(failed)
}

// summarizeProblems counts the problems.
func summarizeProblems(problems []PostProblem) string {
	blocking := 0
	for _, problem := range problems {
		if problem.Blocking {
			blocking++
		}
	}
	return summary.Problems(blocking, len(problems)-blocking)
}
