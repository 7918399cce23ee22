package erasure

import (
	"encoding/json"
	"net/http"
)

// receiveMetaRequest handles Meta's data deletion callback. It answers in Meta's format with the URL of the page that shows the result.
func (p *Handlers) receiveMetaRequest(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	code, err := p.leaving.HandleMetaRequest(r.Context(), r.PostForm.Get("signed_request"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]string{"url": p.PublicURL + "/networks/deletions/" + code, "confirmation_code": code}
	_ = json.NewEncoder(w).Encode(answer) //nolint:errchkjson // texts; the client may have disconnected
}

func (p *Handlers) erasedPage(w http.ResponseWriter, r *http.Request) {
	found, err := p.leaving.ErasureStatus(r.Context(), r.PathValue("code"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	found.At = found.At.UTC()
	p.Show(w, r, http.StatusOK, pages["erased"], "Deletion request", found)
}
