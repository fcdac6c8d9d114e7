// Package check judges a recorded run. Each check is a pure function from what clients were told to the violations of one
// promise of design.md §5; none means that it held.
package check
