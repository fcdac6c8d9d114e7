// Package checkout checks out other commits and builds their packages, for benchmarks that compare
// the working copy with an older build. It works in the root of the repository.
package checkout
