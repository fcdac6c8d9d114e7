// Package generator runs the load generator, bin/loadgen, against a cluster and reads what it
// measured. It works in the root of the repository.
package generator
