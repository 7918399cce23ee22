package network

import (
	"reflect"
	"slices"
)

// Values that mean the same as an omitted value.
const (
	linkedInPublic              = "PUBLIC"
	linkedInDefaultPollDuration = "SEVEN_DAYS"
	defaultFormat               = "post"
	blueskyEverybody            = "everybody"
	threadsEveryone             = "everyone"
)

// Equal reports whether o and other have the same effect. A default value equals an omitted one, and the order of sets
// does not matter.
func (o Options) Equal(other Options) bool {
	return reflect.DeepEqual(o.withoutDefaults(), other.withoutDefaults())
}

// withoutDefaults returns the options without values that equal the default. It keeps all options for TikTok and
// YouTube, because they replace defaults that the operator or the team configured.
func (o Options) withoutDefaults() Options {
	o.Bluesky = normalize(o.Bluesky, BlueskyOptions.withoutDefaults)
	o.Facebook = normalize(o.Facebook, FacebookOptions.withoutDefaults)
	o.Instagram = normalize(o.Instagram, InstagramOptions.withoutDefaults)
	o.Threads = normalize(o.Threads, ThreadsOptions.withoutDefaults)
	o.LinkedIn = normalize(o.LinkedIn, LinkedInOptions.withoutDefaults)
	if o.Pinterest != nil {
		o.Pinterest = nonZero(*o.Pinterest)
	}
	if o.X != nil {
		o.X = nonZero(*o.X)
	}
	return o
}

func (o BlueskyOptions) withoutDefaults() BlueskyOptions {
	o.Labels, o.Languages, o.ReplySettings = sortedCopy(o.Labels), slices.Clone(o.Languages), sortedCopy(o.ReplySettings)
	if slices.Equal(o.ReplySettings, []string{blueskyEverybody}) {
		o.ReplySettings = nil
	}
	if len(o.Languages) == 0 {
		o.Languages = nil
	}
	return o
}

func (o FacebookOptions) withoutDefaults() FacebookOptions {
	if o.Format == defaultFormat {
		o.Format = ""
	}
	return o
}

func (o InstagramOptions) withoutDefaults() InstagramOptions {
	if o.Format == defaultFormat {
		o.Format = ""
	}
	if o.ShareToFeed != nil && *o.ShareToFeed {
		o.ShareToFeed = nil
	}
	if len(o.Collaborators) == 0 {
		o.Collaborators = nil
	}
	if len(o.UserTags) == 0 {
		o.UserTags = nil
	}
	return o
}

func (o LinkedInOptions) withoutDefaults() LinkedInOptions {
	if o.Visibility == linkedInPublic {
		o.Visibility = ""
	}
	if o.Poll != nil && o.Poll.Duration == linkedInDefaultPollDuration {
		poll := *o.Poll
		poll.Duration = ""
		o.Poll = &poll
	}
	if len(o.Mentions) == 0 {
		o.Mentions = nil
	}
	return o
}

func (o ThreadsOptions) withoutDefaults() ThreadsOptions {
	if o.ReplyControl == threadsEveryone {
		o.ReplyControl = ""
	}
	return o
}

// normalize returns options without their defaults, or nil if nothing else was chosen.
func normalize[T any](options *T, withoutDefaults func(T) T) *T {
	if options == nil {
		return nil
	}
	return nonZero(withoutDefaults(*options))
}

// nonZero returns a pointer to options, or nil if nothing was chosen.
func nonZero[T any](options T) *T {
	if reflect.ValueOf(options).IsZero() {
		return nil
	}
	return &options
}

// sortedCopy returns a sorted copy of a set, or nil if the set is empty.
func sortedCopy(set []string) []string {
	if len(set) == 0 {
		return nil
	}
	return slices.Sorted(slices.Values(set))
}
