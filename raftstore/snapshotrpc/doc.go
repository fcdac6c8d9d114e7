// Package snapshotrpc transfers the content of snapshots from the leader to followers, over a gRPC
// stream of its own (peerpb SendSnapshot). A transfer that breaks continues where it stopped, also
// after a restart of the follower, and all transfers of a node together keep to a rate.
//
// The Sender is the leader's side. Package transport calls it before it passes the library's
// InstallSnapshot request on, which then carries no content. The Receiver is the follower's side:
// it writes what arrives to the partial snapshot of package snapshot, from where the library's
// request takes it.
//
// A follower receives one snapshot at a time, and only from the leader that it follows, in the term
// that it is in. A new transfer replaces the one under way. Both sides give up if the other makes
// no progress. The leader waits some time for a follower whose connection broke.
//
// The goroutines of a transfer end before Sender.Send and Receiver.Serve return, except for the one
// that reads the stream of Serve, which ends with the stream.
package snapshotrpc
