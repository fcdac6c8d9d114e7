// Package fairness decides which requests a node serves concurrently, so that no user can keep the
// requests of other users from being served.
//
//	request ──> level ──> queue of its flow ──> seats of the level
//	          by the      by shuffle            by virtual time
//	          first match sharding
//
// A node has a number of seats, which the levels divide by their shares. A request belongs to the
// first level that matches it, and to the flow of its user. The service accounts of a namespace are
// one flow, and so are the requests without a user from one address. A request takes seats by its
// cost: a list of everything takes more than a get. If there are not enough free seats, the request
// waits in one of the queues of its flow for at most the level's MaxWait; if the queue is full, it
// is refused.
//
// Invariants:
//   - The seats in use of a level never exceed the seats that the level has.
//   - A queue that holds seats is granted more only if it then holds no more than were free before
//     the grant. So one flow, which may use 6 queues, leaves about a seventh of the seats to flows
//     that use none, and their requests need not wait for it.
//   - While goroutines wait for processors and there is more than one flow, a queue that holds seats
//     is granted more only out of a part of the seats, at least 8 for each processor (Adjuster). A
//     queue that holds none may use all of them.
//   - Once enough seats are free for the request at the head of a queue, no other queue is granted
//     more than twice the greatest cost before it.
//   - While seats accumulate for such a request, a queue that holds none is granted a single one, if
//     the level has at least 64 seats more than the greatest cost: one for each queue.
//   - A request that was refused or has given up holds nothing.
//   - A holder that waits for its client for longer than patience (10 ms) loses its seats, and must
//     take new ones before it continues.
//
// Without contention, Enter and Leave each lock one mutex briefly and allocate nothing
// (BenchmarkEnter). The package starts no goroutines; timers release the seats of holders that
// wait. DESIGN.md has the reasons.
package fairness
