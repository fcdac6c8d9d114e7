// Command fairshare measures how one user's latency changes while another user sends as many
// requests as possible.
//
//	go run ./bench/fairshare                       # against bin/quorate
//	go run ./bench/fairshare -binary OTHER -conns 500
//	go run ./bench/fairshare -nice 19              # bob's process yields to the others
//	go run ./bench/fairshare -reconnect            # bob opens a connection for each request
//
// It starts a node in a temporary directory. User alice gets one object at a time: first alone,
// then while user bob has many connections, each of which repeats one kind of request (list, write,
// watch or get) and ignores refusals. Bob is a separate process, so that alice's client does not
// wait for his requests. The command prints a line for each of the two phases with alice's
// latencies and status codes, and then the share of the processors that each process used and the
// responses that bob received.
//
// Bob's process competes with the node's and alice's for the same processors, as it would not on a
// machine of its own. With -nice 19 the operating system prefers the others, so that most of
// alice's latency is the node's.
package main
