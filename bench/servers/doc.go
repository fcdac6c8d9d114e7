// Package servers runs clusters on loopback for benchmarks: their processes start on free ports with
// their data in a given directory, end by their process ids, and end with the benchmark if it dies.
// Methods are for one goroutine.
package servers
