package main

import (
	"context"

	"pressroom.example/pressroom/internal/apicli"
)

type mcpCmd struct {
	URL       string `help:"URL of the service. If omitted: the profile's URL, PRESSROOM_URL, or http://127.0.0.1:8080."`
	Profile   string `help:"Profile of pressroom login. If omitted: PRESSROOM_PROFILE, or the profile named default."`
	KeyFile   string `help:"File that contains the API key (default PRESSROOM_KEY_FILE)."`
	Toolsets  string `help:"Groups of tools to offer, separated by commas, such as posts,media. All if omitted."`
	ReadOnly  bool   `help:"Offer only tools that do not change anything."`
	PlainHTTP bool   `help:"Allow sending the key over plain HTTP to another machine."`
}

// Help returns the details of `pressroom mcp --help`.
func (mcpCmd) Help() string {
	return `Use this command for an assistant that can start a program but cannot connect to a URL. As the credential, set
an API key in PRESSROOM_KEY or --key-file, or use a profile of pressroom login. Most assistants accept this
configuration:

  {"mcpServers": {"pressroom": {"command": "pressroom", "args": ["mcp"],
    "env": {"PRESSROOM_URL": "https://pressroom.example.com", "PRESSROOM_KEY": "prk_..."}}}}

docs/assistants.md has the configuration of each assistant.`
}

// Run serves until the end of standard input.
func (c mcpCmd) Run(ctx context.Context) error {
	return apicli.ServeMCP(ctx, terminal(), apicli.MCPOptions{
		URL: c.URL, Profile: c.Profile, KeyFile: c.KeyFile, Toolsets: c.Toolsets, ReadOnly: c.ReadOnly, PlainHTTP: c.PlainHTTP,
	})
}
