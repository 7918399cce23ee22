package reference

import (
	"slices"

	"pressroom.example/pressroom/internal/apierr"
)

// shareRejections finds the codes that all operations return, removes them from each operation, and returns them by
// status. If there is only one operation, it does nothing.
func shareRejections(entries []entry) []rejection {
	if len(entries) < 2 {
		return nil
	}
	var shared []rejection
	for _, r := range entries[0].Rejections {
		codes := slices.DeleteFunc(slices.Clone(r.Codes), func(code apierr.Code) bool {
			return slices.ContainsFunc(entries, func(e entry) bool { return !rejects(e.Rejections, r.Status, code) })
		})
		if len(codes) > 0 {
			shared = append(shared, rejection{r.Status, codes})
		}
	}
	for i := range entries {
		var own []rejection
		for _, r := range entries[i].Rejections {
			r.Codes = slices.DeleteFunc(r.Codes, func(code apierr.Code) bool { return rejects(shared, r.Status, code) })
			if len(r.Codes) > 0 {
				own = append(own, r)
			}
		}
		entries[i].Rejections = own
	}
	return shared
}

// rejects reports whether rejections contains the code with the status.
func rejects(rejections []rejection, status string, code apierr.Code) bool {
	return slices.ContainsFunc(rejections, func(r rejection) bool {
		return r.Status == status && slices.Contains(r.Codes, code)
	})
}
