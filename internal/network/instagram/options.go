package instagram

import "pressroom.example/pressroom/internal/network"

// ownOptions returns the options for Instagram.
func ownOptions(o network.Options) network.Options { return network.Options{Instagram: o.Instagram} }

// checkFormat returns a problem if the post cannot have its format. A story has its own limits.
func checkFormat(c network.Content) []network.Problem {
	o := c.Options.Instagram
	if o == nil || o.Format != network.FormatReel || len(c.Media) == 1 && c.Media[0].Kind == network.Video {
		return nil
	}
	return []network.Problem{{Code: "option_not_supported", Blocking: true, Message: "A reel on Instagram is a single video. " +
		"Choose another format (options.instagram.format), or post only a video."}}
}
