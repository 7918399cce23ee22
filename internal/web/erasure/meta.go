package erasure

import (
	"encoding/json"
	"net/http"
)

// receiveMetaRequest handles Meta's data deletion callback. The response has Meta's format and contains the URL of a
// page with the status of the deletion.
func (p *Handlers) receiveMetaRequest(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	code, err := p.erasure.HandleMetaRequest(r.Context(), r.PostForm.Get("signed_request"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	response := map[string]string{"url": p.PublicURL + "/networks/deletions/" + code, "confirmation_code": code}
	_ = json.NewEncoder(w).Encode(response) //nolint:errchkjson // texts; the client may have disconnected
}

func (p *Handlers) erasedPage(w http.ResponseWriter, r *http.Request) {
	status, err := p.erasure.ErasureStatus(r.Context(), r.PathValue("code"))
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	status.At = status.At.UTC()
	p.Show(w, r, http.StatusOK, pages["erased"], "Deletion request", status)
}
