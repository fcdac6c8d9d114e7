// Package record is the track record: for each fault of the Raft library that Quorate defends
// against, a test that provokes the fault on the unmodified library ("stock") and shows that it
// does not happen here ("quorate"). README.md has the table.
//
// The rest of chaos uses the public API only. These tests instead script one real replica against
// puppets that play its peers, because the faults need an order of messages that no cluster
// produces on demand. So they import the library, Quorate's transport and log, and the store above.
// The package contains only tests.
package record
