// Package measure measures what operations on servers cost, and prints it as tables in Markdown and
// JSON.
package measure
