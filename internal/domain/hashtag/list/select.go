package list

import "context"

// Select returns a list with only the hashtags that pick returns. It reads statistics only for these hashtags, so that
// a page of a long list is cheap.
func (s *Service) Select(ctx context.Context, team, id int64, pick func([]Item) []Item) (HashtagList, error) {
	l, items, err := s.findWithItems(ctx, team, id)
	if err != nil {
		return HashtagList{}, err
	}
	l.Size = int64(len(items)) // the hashtags were read after the list
	picked := pick(append([]Item{}, items...))
	hashtags, err := s.addStatistics(ctx, l, picked)
	return HashtagList{HashtagListEntry: newEntry(l), Hashtags: hashtags}, err
}
