// Command fairshare measures what one user notices of another who sends all he can.
//
//	go run ./bench/fairshare                       # against bin/quorate
//	go run ./bench/fairshare -binary OTHER -conns 500
//
// It starts a node in a temporary directory. User alice gets one object at a time: first alone,
// then while user bob has many connections, each with a loop of lists of everything, writes,
// watches or gets, and pays no attention to refusals. Bob is a process of his own, so that alice's
// client does not wait for his. The result is a line for each phase: alice's latency and codes, and
// what bob got.
package main
