package post

import (
	"fmt"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/network"
)

// checkWanted returns an error if the post cannot have the new content.
func (p Record) checkWanted(wanted Record) error {
	if err := wanted.checkCovers(); err != nil {
		return err
	}
	if len(wanted.Targets) == 0 && p.needsAccount() {
		return errNoAccount
	}
	return nil
}

// checkCovers returns an error for a cover after the end of its video.
func (p Record) checkCovers() error {
	for _, m := range slices.Concat(append([][]network.Media{p.Media}, mediaOfAll(p.Targets)...)...) {
		if m.Duration > 0 && m.Cover > m.Duration {
			return apierr.Invalid(apierr.OutOfRange, fmt.Sprintf("cover-%d", m.ID),
				"The cover time is not within the video.")
		}
	}
	return nil
}

// needsAccount reports whether the post cannot be without an account.
func (p Record) needsAccount() bool { return p.Status == Scheduled || p.IsTemplate }
