// Package components serves a page for development that shows every UI component of the app in every state.
package components

import (
	"embed"
	"html/template"
	"net/http"

	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates
var files embed.FS

var pages = shell.Parse(files, shell.Data{
	"components": nil,
}, template.FuncMap{
	"states": func() []string {
		return []string{
			"draft", "scheduled", "processing", "published", "partially_published", "failed", "pending", "sending",
			"unconfirmed", "running", "succeeded", "partially_succeeded", "ready", "error", "connected", "expiring", "lost",
			"waiting", "approved", "rejected",
		}
	},
	"networks": func() []string {
		return []string{
			"instagram", "facebook", "threads", "tiktok", "youtube", "linkedin", "x", "pinterest", "bluesky",
		}
	},
})

// Handlers serves the page.
type Handlers struct{ *shell.Shell }

// New returns the handlers.
func New(sh *shell.Shell) *Handlers { return &Handlers{sh} }

// Routes returns the route of the page.
func (h *Handlers) Routes() []shell.Route {
	return []shell.Route{{Pattern: "GET /dev/components", Audience: shell.Anyone, Handler: h.page}}
}

func (h *Handlers) page(w http.ResponseWriter, r *http.Request) {
	h.Show(w, r, http.StatusOK, pages["components"], "Components", nil)
}
