package posts

import (
	"context"
	"net/http"
	"regexp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// jobView is the page of a job.
type jobView struct {
	job.Job

	ID       string
	What     string // title of the page
	To       string // path of the page about the job's subject; empty if there is none
	ToText   string // label of the link to it
	Every    int    // seconds until the page refreshes; 0 for never
	Notes    []string
	Accounts []jobAccount
	Files    []jobFile
	Charged  *int64 // credits charged for a download; nil for other jobs
}

type (
	jobAccount struct {
		delivery.PostResultAccount

		Platform, Username string
		Said               string // the network's message; untrusted text
	}
	jobFile struct {
		Media int64 // ID of the media item; 0 if the file was not saved
		Name  string
		Why   string // why it was not saved
	}
)

// jobWords maps job types to the titles of jobs and the labels of the links to their subjects.
var jobWords = map[job.Type][2]locale.Key{
	job.SocialPost:    {"Publishing a post", "Open the post"},
	job.ProfileReport: {"Creating a profile report", "Open the report"},
	job.HashtagReport: {"Creating a hashtag report", "Open the report"},
	job.HashtagSearch: {"Searching hashtags", "Open the hashtags"},
	job.MediaImport:   {"Adding files to the library", "Open the files"},
	job.ContentFetch:  {"Downloading a profile’s media", "Open the library"},
}

var jobIDPattern = regexp.MustCompile(`^[a-z_]{1,32}:[A-Za-z0-9-]{1,64}$`)

func (p *Handlers) job(w http.ResponseWriter, r *http.Request) {
	v, err := p.readJob(r)
	if err != nil {
		p.SwitchToTeamOf(w, r, err, func(ctx context.Context, teams []int64) (int64, error) {
			if !jobIDPattern.MatchString(r.PathValue("id")) {
				return 0, apierr.ItemNotFound()
			}
			return p.jobs.FindTeam(ctx, r.PathValue("id"), teams)
		})
		return
	}
	p.ShowTitled(w, r, http.StatusOK, pages["job"], v.What, v)
}

func (p *Handlers) jobLive(w http.ResponseWriter, r *http.Request) {
	v, err := p.readJob(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.ShowPart(w, r, pages["job"], "live", v)
}

func (p *Handlers) readJob(r *http.Request) (jobView, error) {
	id := r.PathValue("id")
	if !jobIDPattern.MatchString(id) {
		return jobView{}, apierr.ItemNotFound()
	}
	entry, outcome, err := shell.Run[job.Job](p.Shell, r, "get_job",
		operation.Arguments{"job_id": id, "limit": int64(accountsPage)})
	if err != nil {
		return jobView{}, err
	}
	v := jobView{Job: entry, ID: id, What: p.T(r, jobWords[entry.Type][0]), Notes: shell.TranslateNotes(p.Language(r),
		outcome.Notes)}
	if v.What == "" {
		v.What = p.T(r, "A job")
	}
	if to := outcome.App; to != "/jobs/"+id {
		v.To, v.ToText = to, p.T(r, jobWords[entry.Type][1])
	}
	if !entry.Finished {
		v.Every = fastRefresh
	}
	err = p.addResults(r, &v, outcome.Call.TeamID, outcome.Untrusted)
	return v, err
}

// addResults adds the results of the job if its type is one whose results this page shows.
func (p *Handlers) addResults(r *http.Request, v *jobView, team int64, untrusted []operation.Untrusted) error {
	switch result := v.Result.(type) {
	case delivery.PostResult:
		stored, err := p.posts.Load(r.Context(), team, result.PostID)
		if err != nil {
			return err
		}
		for _, a := range result.Accounts {
			v.Accounts = append(v.Accounts, jobAccountOf(a, stored, untrusted))
		}
	case media.UploadResult:
		for _, f := range result.Files {
			v.Files = append(v.Files, jobFile{f.MediaID, f.File.FileName, job.Message(f.Reason)})
		}
	case media.DownloadResult:
		v.Charged = &result.CreditsCharged
		for _, i := range result.Items {
			v.Files = append(v.Files, jobFile{i.MediaID, i.Kind + " " + i.Item, job.Message(i.Reason)})
		}
	}
	return nil
}

func jobAccountOf(a delivery.PostResultAccount, stored post.Record, untrusted []operation.Untrusted) jobAccount {
	out := jobAccount{PostResultAccount: a, Said: textOf(untrusted, a.NetworkMessage)}
	for _, t := range stored.Targets {
		if t.AccountID == a.ID {
			out.Platform, out.Username = t.Platform, t.Username
		}
	}
	return out
}
