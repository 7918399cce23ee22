package approvals

import "pressroom.example/pressroom/internal/apierr"

// setError shows text with the post that the error is about. If the error is about the client's name or about no post,
// it shows text with the whole page.
func (v *clientView) setError(f *apierr.Error, text, postID string) {
	field, _ := f.Context["argument"].(string)
	for _, c := range v.Cards {
		if field != "name" && (c.ID == postID || !v.Several()) {
			c.Error, c.Field = text, field
			return
		}
	}
	v.Error, v.Field = text, field
}
