package posts

import (
	"context"
	"net/http"
	"regexp"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/media"
	"pressroom/internal/domain/post"
	"pressroom/internal/web/shell"
)

// jobView is the page of a job.
type jobView struct {
	job.Job

	ID       string
	What     string
	To       string // where what the job is about is shown; empty while there is no such place
	ToText   string
	Every    int
	Notes    []string
	Accounts []jobAccount
	Files    []jobFile
	Charged  *int64
}

type (
	jobAccount struct {
		delivery.AccountResult

		Platform, Username string
		Said               string // what the network said: a stranger's text
	}
	jobFile struct {
		Media int64 // 0 where it was not kept
		Name  string
		Why   string
	}
)

// jobWords say what jobs do, and what the link to their item reads.
var jobWords = map[job.Type][2]string{
	job.SocialPost:    {"Publishing a post", "Open the post"},
	job.ProfileReport: {"Making a report of a profile", "Open the report"},
	job.HashtagReport: {"Making a report of a hashtag", "Open the report"},
	job.HashtagSearch: {"Searching hashtags", "Open the hashtags"},
	job.MediaImport:   {"Bringing files into the library", "Open the files"},
	job.ContentFetch:  {"Downloading a profile’s media", "Open the library"},
}

var jobForm = regexp.MustCompile(`^[a-z_]{1,32}:[A-Za-z0-9-]{1,64}$`)

func (p *Part) job(w http.ResponseWriter, r *http.Request) {
	v, err := p.readJob(r)
	if err != nil {
		p.Elsewhere(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			if !jobForm.MatchString(r.PathValue("id")) {
				return 0, apierr.Missing()
			}
			return p.jobs.FindTeam(ctx, r.PathValue("id"), teams)
		})
		return
	}
	p.Show(w, r, http.StatusOK, pages["job"], v.What, v)
}

func (p *Part) jobLive(w http.ResponseWriter, r *http.Request) {
	v, err := p.readJob(r)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.piece(w, r, "job", v)
}

func (p *Part) readJob(r *http.Request) (jobView, error) {
	id := r.PathValue("id")
	if !jobForm.MatchString(id) {
		return jobView{}, apierr.Missing()
	}
	entry, outcome, err := shell.Ask[job.Job](p.Frame, r, "get_job",
		operation.Arguments{"job_id": id, "limit": int64(accountsPage)})
	if err != nil {
		return jobView{}, err
	}
	v := jobView{Job: entry, ID: id, What: jobWords[entry.Type][0], Notes: outcome.Notes}
	if v.What == "" {
		v.What = "A job"
	}
	if to := outcome.App; to != "/jobs/"+id {
		v.To, v.ToText = to, jobWords[entry.Type][1]
	}
	if !entry.Finished {
		v.Every = soon
	}
	return v, p.produced(r, &v, outcome.Call.TeamID, outcome.Untrusted)
}

// produced adds what a job made, as far as it is not shown where the job leads to.
func (p *Part) produced(r *http.Request, v *jobView, team int64, said []operation.Untrusted) error {
	switch made := v.Result.(type) {
	case delivery.PostResult:
		stored, err := p.posts.Load(r.Context(), team, made.PostID)
		if err != nil {
			return err
		}
		for _, a := range made.Accounts {
			v.Accounts = append(v.Accounts, jobAccountOf(a, stored, said))
		}
	case media.BatchResult:
		for _, f := range made.Files {
			v.Files = append(v.Files, jobFile{f.MediaID, f.File.FileName, job.Message(f.Reason)})
		}
	case media.DownloadResult:
		v.Charged = &made.CreditsCharged
		for _, i := range made.Items {
			v.Files = append(v.Files, jobFile{i.MediaID, i.Kind + " " + i.Item, job.Message(i.Reason)})
		}
	}
	return nil
}

func jobAccountOf(a delivery.AccountResult, stored post.Record, said []operation.Untrusted) jobAccount {
	out := jobAccount{AccountResult: a, Said: textOf(said, a.NetworkMessage)}
	for _, t := range stored.Targets {
		if t.AccountID == a.ID {
			out.Platform, out.Username = t.Platform, t.Username
		}
	}
	return out
}
