package network

import (
	"reflect"
	"slices"
)

// Values that mean the same as no value.
const (
	linkedInPublic   = "PUBLIC"
	linkedInWeek     = "SEVEN_DAYS"
	defaultFormat    = "post"
	blueskyEverybody = "everybody"
	threadsEveryone  = "everyone"
)

// Equal reports whether o and other have the same effect. A default value equals an omitted one, and the order of sets
// does not matter.
func (o Options) Equal(other Options) bool {
	return reflect.DeepEqual(o.withoutDefaults(), other.withoutDefaults())
}

// withoutDefaults returns the options without values that change nothing. It does not change the options of TikTok and
// YouTube, because they replace configured defaults.
func (o Options) withoutDefaults() Options {
	o.Bluesky = o.Bluesky.withoutDefaults()
	o.Facebook = o.Facebook.withoutDefaults()
	o.Instagram = o.Instagram.withoutDefaults()
	o.Threads = o.Threads.withoutDefaults()
	o.LinkedIn = o.LinkedIn.withoutDefaults()
	if o.Pinterest != nil {
		o.Pinterest = nonZero(*o.Pinterest)
	}
	if o.X != nil && o.X.IsZero() {
		o.X = nil
	}
	return o
}

func (o *BlueskyOptions) withoutDefaults() *BlueskyOptions {
	if o == nil {
		return nil
	}
	c := *o
	c.Labels, c.Languages, c.ReplySettings = sorted(c.Labels), slices.Clone(c.Languages), sorted(c.ReplySettings)
	if slices.Equal(c.ReplySettings, []string{blueskyEverybody}) {
		c.ReplySettings = nil
	}
	if len(c.Languages) == 0 {
		c.Languages = nil
	}
	return nonZero(c)
}

func (o *FacebookOptions) withoutDefaults() *FacebookOptions {
	if o == nil {
		return nil
	}
	c := *o
	if c.Format == defaultFormat {
		c.Format = ""
	}
	return nonZero(c)
}

func (o *InstagramOptions) withoutDefaults() *InstagramOptions {
	if o == nil {
		return nil
	}
	c := *o
	if c.Format == defaultFormat {
		c.Format = ""
	}
	if c.ShareToFeed != nil && *c.ShareToFeed {
		c.ShareToFeed = nil
	}
	if len(c.Collaborators) == 0 {
		c.Collaborators = nil
	}
	if len(c.UserTags) == 0 {
		c.UserTags = nil
	}
	return nonZero(c)
}

func (o *LinkedInOptions) withoutDefaults() *LinkedInOptions {
	if o == nil {
		return nil
	}
	c := *o
	if c.Visibility == linkedInPublic {
		c.Visibility = ""
	}
	if c.Poll != nil && c.Poll.Duration == linkedInWeek {
		poll := *c.Poll
		poll.Duration = ""
		c.Poll = &poll
	}
	if len(c.Mentions) == 0 {
		c.Mentions = nil
	}
	return nonZero(c)
}

func (o *ThreadsOptions) withoutDefaults() *ThreadsOptions {
	if o == nil {
		return nil
	}
	c := *o
	if c.ReplyControl == threadsEveryone {
		c.ReplyControl = ""
	}
	return nonZero(c)
}

// nonZero returns a pointer to options, or nil if nothing was chosen.
func nonZero[T any](options T) *T {
	if reflect.ValueOf(options).IsZero() {
		return nil
	}
	return &options
}

// sorted returns a sorted copy of a set, or nil for an empty one.
func sorted(set []string) []string {
	if len(set) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(set))
}
