package server

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/sandbox"
)

// demoPriorPosts lists posts from before the team used pressroom. They give the team's accounts some metrics. Each was
// published the given number of days before the first start, at the given hour in the team's time zone.
var demoPriorPosts = []struct {
	days, hour int
	text       string
}{
	{58, 9, "We have moved the big roaster. It took six people and one very patient cat. #roastery"},
	{51, 18, "New on the shelf: a washed lot from the farm above the lake. Apricot, black tea, honey."},
	{45, 8, "The quay is closed for repairs until Friday. The side door is open, and so are we."},
	{38, 12, "Three things to do with yesterday's coffee. None of them is drinking it. #coffee"},
	{33, 18, "Cupping on Thursday at six. Twelve places, no talk about scores. #coffee #cupping"},
	{26, 8, "Rain all week. We have put the umbrellas next to the door, take one along and bring it back."},
	{23, 17, "What our regulars order when they think nobody looks: a list. #coffeetime"},
	{18, 9, "The winter blend is in the drum for the first time this year. Smells like a good December."},
	{14, 12, "Our grinder has a name now. You voted for it, so you are to blame. #espresso"},
	{9, 18, "Last Sunday in pictures: four hundred cups, one dropped cake, no tears. #coffeeshop"},
	{6, 8, "We open at seven on market days from now on. You asked often enough."},
	{3, 12, "Ada is back from the farms with a notebook full of rain and a bag full of samples. #coffee"},
}

// addPriorPosts adds the posts in demoPriorPosts to the demo team's accounts on three networks. The sandbox computes
// the metrics of a post from the post and its age.
func (q *Quickstart) addPriorPosts(ctx context.Context) error {
	zone, err := time.LoadLocation(demoTimezone)
	if err != nil {
		return fmt.Errorf("loading the demo team's time zone: %w", err)
	}
	picture, err := demoPicture("quay")
	if err != nil {
		return err
	}
	year, month, day := q.db.Now().In(zone).Date()
	textOnly := make([]sandbox.PriorPost, len(demoPriorPosts))
	for i, e := range demoPriorPosts {
		textOnly[i] = sandbox.PriorPost{Text: e.text, At: time.Date(year, month, day-e.days, e.hour, 4*i, 0, 0, zone)}
	}
	withImage := make([]sandbox.PriorPost, len(textOnly))
	for i, e := range textOnly {
		e.Image = picture
		withImage[i] = e
	}
	for _, at := range []struct {
		platform, handle string
		posts            []sandbox.PriorPost
	}{{"bluesky", demoHandle, textOnly}, {"threads", demoPerson, textOnly}, {"instagram", demoPerson, withImage}} {
		if err := q.sandbox.AddPriorPosts(ctx, at.platform, at.handle, at.posts); err != nil {
			return err
		}
	}
	return nil
}
