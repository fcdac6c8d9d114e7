// Package entries reads single entries of the log on disk for operators: what each entry is, and
// the object before and after the change that it made. Watches read the log by package replay
// instead.
//
// The package has no goroutines, and its functions are safe for concurrent use. Callers bound the
// concurrency: a call reads up to a few megabytes.
package entries
