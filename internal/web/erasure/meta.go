package erasure

import (
	"encoding/json"
	"net/http"
)

// receiveMetaRequest handles Meta's data deletion callback. The response has Meta's format and contains the URL of a
// page with the status of the deletion.
func (h *Handlers) receiveMetaRequest(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	code, err := h.erasure.HandleMetaRequest(r.Context(), r.PostForm.Get("signed_request"))
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	response := map[string]string{"url": h.PublicURL + "/networks/deletions/" + code, "confirmation_code": code}
	_ = json.NewEncoder(w).Encode(response) //nolint:errchkjson // texts; the client may have disconnected
}

func (h *Handlers) erasedPage(w http.ResponseWriter, r *http.Request) {
	status, err := h.erasure.ErasureStatus(r.Context(), r.PathValue("code"))
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	status.At = status.At.UTC()
	h.Show(w, r, http.StatusOK, pages["erased"], "Deletion request", status)
}
