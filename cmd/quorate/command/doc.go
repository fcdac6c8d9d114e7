// Package command implements the command line: it parses arguments, calls the packages that do the
// work, prints results, and turns an error into one line and an exit code, with which main ends the
// process.
package command
