// Package record contains only tests, for faults of hashicorp/raft that Quorate avoids. Most of
// them provoke the fault in the unmodified library (subtest "stock") and check that it does not
// occur with Quorate's transport, log and store (subtest "quorate"). README.md lists the faults.
//
// Most tests run one real replica whose peers are scripted ("puppets"), because the faults depend
// on an order of messages that a real cluster does not produce on demand. The package therefore
// imports the library and parts of raftstore, unlike the chaos runner, which uses the public API.
package record
