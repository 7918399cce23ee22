// Package deploy checks what lies in deploy/ with the parsers and linters of those who read it.
package deploy
