package media

import (
	"context"
	"errors"

	"pressroom/internal/network"
)

// Files gives networks the bytes of a team's media.
func (s *Service) Files(team int64) network.Files { return files{s, team} }

type files struct {
	s    *Service
	team int64
}

// Open opens an item of the team, made to fit.
func (f files) Open(context.Context, int64, network.Fit) (network.File, error) {
	return network.File{}, &network.Error{Class: network.Rejected, Code: "NoSuchMedia", Err: errors.New("the library is empty")}
}
