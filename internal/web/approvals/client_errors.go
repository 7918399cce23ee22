package approvals

import "pressroom.example/pressroom/internal/apierr"

// setError assigns an error and its text to its field: the name, a field of a post, or no field.
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
