// Package command is the command line: it parses, calls what does the work, prints, and turns an error into one line and an
// exit code. Nothing else in the program exits.
package command
