// Package deploy checks the files in deploy/ with the parsers and linters of the programs that read them.
package deploy
