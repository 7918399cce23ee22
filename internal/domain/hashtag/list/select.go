package list

import "context"

// Select is a list with those of its hashtags that pick chooses, in its order. Figures are read of these alone, so that a
// page of a long list costs what a page does.
func (s *Service) Select(ctx context.Context, team, id int64, pick func([]Item) []Item) (Opened, error) {
	l, items, err := s.findWithItems(ctx, team, id)
	if err != nil {
		return Opened{}, err
	}
	l.Size = int64(len(items)) // read a moment after the list: both tell the same
	picked := pick(append([]Item{}, items...))
	shown, err := s.addFigures(ctx, l, picked)
	return Opened{Entry: entry(l), Hashtags: shown}, err
}
