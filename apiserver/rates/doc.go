// Package rates keeps the last hour of a node in memory: how many requests it answered, how fast,
// and which leader and term it knew. It serves that at /cluster/v1/rates, for the console and
// quorate status, which need no other server for it.
//
// Run takes a sample every ten seconds, for about half a millisecond (BenchmarkTotals of package
// route), and has no other goroutines. All methods are safe for concurrent use.
package rates
