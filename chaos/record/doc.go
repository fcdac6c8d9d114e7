// Package record is the track record: for each fault of the Raft library that Quorate defends
// against, a test that provokes it on the library as it comes ("stock") and shows that it does not
// happen here ("quorate"). README.md has the table.
//
// Unlike the rest of chaos, which sees the public API only, these tests script one real replica
// against puppets that play its peers, since the faults need an order of messages that no cluster
// produces on demand. So they import the library itself, the transport and the log that we hand to
// it, and the store above. There is no code here but tests.
package record
