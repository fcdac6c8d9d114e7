// Package command is the command line: it parses arguments, calls the packages that do the work,
// prints results, and turns an error into one line and an exit code. Nothing else in the program
// exits.
package command
