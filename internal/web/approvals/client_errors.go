package approvals

import "pressroom.example/pressroom/internal/apierr"

// setError sets the error of the post that it is about, or of the page if it is about the name or no post.
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
