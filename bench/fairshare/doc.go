// Command fairshare measures how one user's latency changes while another user sends as many
// requests as possible.
//
//	go run ./bench/fairshare                       # against bin/quorate
//	go run ./bench/fairshare -binary OTHER -conns 500
//	go run ./bench/fairshare -nice 19              # bob's own work yields to the others
//	go run ./bench/fairshare -reconnect            # bob opens a connection for each request
//
// It starts a node in a temporary directory. User alice gets one object at a time: first alone,
// then while user bob has many connections, each with a loop of lists of everything, writes,
// watches or gets, and ignores refusals. Bob is a separate process, so that alice's client does not
// wait for his. The result is a line for each phase: alice's latency and codes, the part of the
// processors that each process used, and the responses that bob received.
//
// Bob's process competes with the node and alice's for the same processors, as it would not on a
// machine of its own. With -nice 19 the operating system prefers the others, so that most of
// alice's latency is the node's.
package main
