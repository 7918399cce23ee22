// Package deploy checks the files in deploy/ with the parsers and linters of their consumers.
package deploy
