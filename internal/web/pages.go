package web

import (
	"embed"
	"html/template"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/post/excerpt"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

//go:embed templates/*.html
var files embed.FS

// pages holds this package's templates by name.
var pages = shell.Parse(files, shell.Data{
	"connect": connectView{}, "connectchoice": choiceView{}, "connected": connectedView{},
	"connectend": connectFailure{}, "front": "", "help": helpView{}, "help#help jobs": nil,
	"help#help pages": nil, "home": homeView{}, "upload": uploadView{},
}, template.FuncMap{
	"spark": plot.Spark, "vowel": startsWithVowelSound, "wayhint": methodHint, "waytitle": methodTitle,
	"networks": func() []string {
		return []string{"instagram", "facebook", "threads", "tiktok", "youtube", "linkedin", "x", "pinterest", "bluesky"}
	},
	"cut":       func(limit int, text string) string { return excerpt.Truncate(text, limit) },
	"firstword": func(name string) string { first, _, _ := strings.Cut(name, " "); return first },
}, func(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"clock":    func(at time.Time) string { return l.Format(at, locale.Clock) },
		"weekdate": func(at time.Time) string { return l.Format(at, locale.WeekdayDate) },
		"known":    func(text string) string { return shell.TranslateText(l, text) },
		"weekday":  func(at time.Time) string { return l.Format(at, locale.ShortWeekday) },
	}
})
