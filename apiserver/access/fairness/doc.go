// Package fairness decides which requests a node serves at a time, so that no user can keep the
// others from being served.
//
//	request ──> level ──> queue of its flow ──> seats of the level
//	          by the      by shuffle            by virtual time
//	          first match sharding
//
// A node has a number of seats, which the levels divide by their shares. A request belongs to the
// first level that matches it, and to the flow of its user; the service accounts of a namespace are
// one flow, and so are the requests without a user from one address. It takes seats by its cost: a
// list of everything takes more than a get. A request that finds no seats waits in one of the
// queues of its flow, for a bounded time, or is refused if the queue is full.
//
// Invariants:
//   - The seats in use of a level never exceed those that it has.
//   - A queue takes no more seats than are left after that, except for its first request. So one
//     flow, whose hand has 6 queues, leaves a seventh of the seats for flows that have none: they
//     need not wait for it, whatever it does.
//   - A request that waits is served before any other queue has been granted more than two of the
//     greatest costs, once seats are free.
//   - A request that is refused or given up holds nothing.
//   - A seat is not held for the client's sake: a holder that waits for its client for longer than
//     a moment loses its seats, and takes new ones before it goes on.
//
// Without contention, Enter and Leave take one short mutex each and allocate nothing
// (BenchmarkEnter). The package has no goroutines; timers release the seats of holders that wait.
// DESIGN.md has the reasons.
package fairness
