// Command fairshare measures how one user's latency changes while another user sends as many
// requests as possible.
//
//	go run ./bench/fairshare                       # against bin/quorate
//	go run ./bench/fairshare -binary OTHER -conns 500
//
// It starts a node in a temporary directory. User alice gets one object at a time: first alone,
// then while user bob has many connections, each with a loop of lists of everything, writes,
// watches or gets, and ignores refusals. Bob is a separate process, so that alice's client does not
// wait for his. The result is a line for each phase: alice's latency and codes, and the responses
// that bob received.
package main
