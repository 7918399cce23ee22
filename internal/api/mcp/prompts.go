package mcp

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/auth/apikey"
)

// prompt is a common task that people can give to an assistant.
type prompt struct {
	name, title, description string
	arguments                []argument
	text                     *template.Template
}

// argument is an argument of a prompt. If operation is not empty, the values of that operation's argument with the name
// in the field argument are suggested.
type argument struct {
	name, title, description string
	required                 bool
	operation, argument      string
	format                   format
}

// format is the format of an argument's value; the zero format accepts any text.
type format struct {
	rule  string // completes the sentence "The argument NAME …"
	valid func(value string) bool
}

// number returns the format of integers from least to most.
func number(least, most int) format {
	return format{fmt.Sprintf("must be an integer from %d to %d", least, most), func(value string) bool {
		n, err := strconv.Atoi(value)
		return err == nil && n >= least && n <= most
	}}
}

var date = format{"must be a date such as 2026-03-30", func(value string) bool {
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}}

// oneOf returns the format of a choice.
func oneOf(choices ...string) format {
	return format{"must be one of: " + strings.Join(choices, ", "), func(value string) bool {
		return slices.Contains(choices, value)
	}}
}

const maxArgument = 2000 // characters of a prompt's argument

func findPrompt(name string) *prompt {
	for i := range prompts {
		if prompts[i].name == name {
			return &prompts[i]
		}
	}
	return nil
}

func addPrompts(server *sdk.Server) {
	for i := range prompts {
		p := &prompts[i]
		shown := &sdk.Prompt{Name: p.name, Title: p.title, Description: p.description}
		for _, a := range p.arguments {
			shown.Arguments = append(shown.Arguments,
				&sdk.PromptArgument{Name: a.name, Title: a.title, Description: a.description, Required: a.required})
		}
		server.AddPrompt(shown, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return p.render(exchangeFrom(ctx), req.Params.Arguments)
		})
	}
}

// render returns the prompt with its arguments as a message of the user.
func (p *prompt) render(x *exchange, given map[string]string) (*sdk.GetPromptResult, error) {
	values := map[string]string{}
	for _, a := range p.arguments {
		value := strings.TrimSpace(given[a.name])
		if problem := a.check(value); problem != "" {
			return nil, x.newError(jsonrpc.CodeInvalidParams, "The argument "+a.name+" "+problem+".")
		}
		values[a.name] = value
	}
	for name := range given {
		if _, known := values[name]; !known {
			return nil, x.newError(jsonrpc.CodeInvalidParams,
				"Unknown argument. prompts/list has the arguments of each prompt.")
		}
	}
	var text strings.Builder
	if err := p.text.Execute(&text, values); err != nil {
		return nil, fmt.Errorf("writing the prompt %s: %w", p.name, err)
	}
	return &sdk.GetPromptResult{
		Description: p.description,
		Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: strings.TrimSpace(text.String())}},
		},
	}, nil
}

// check returns the error of a value, or "".
func (a argument) check(value string) string {
	switch {
	case value == "" && a.required:
		return "is missing"
	case utf8.RuneCountInString(value) > maxArgument:
		return fmt.Sprintf("is longer than %d characters", maxArgument)
	case apikey.ContainsSecret(value):
		return "contains an API key or an upload secret; remove it"
	case value != "" && a.format.valid != nil && !a.format.valid(value):
		return a.format.rule
	}
	return ""
}
