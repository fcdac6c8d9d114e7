package main

import "strings"

// stage is a part of the work on a write.
type stage struct {
	name string
	// functions are parts of the names of functions. A sample belongs to the stage if its stack has a
	// function that contains one of them.
	functions []string
}

// stages are in the order in which a sample is tried, from what others call to those that call.
// So a write to a socket belongs to the stage of the connection, not to that of its caller.
var stages = []stage{
	{"garbage collection", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge", "runtime.gcStart"}},
	{"fsync", []string{"syscall.Fdatasync", "syscall.Fsync", "unix.Fdatasync", "unix.Fsync", "os.(*File).Sync"}},
	{"append to the log, without its fsync", []string{"quorate/raftstore/log."}},
	{"snapshot", []string{"fsm.WriteSnapshot", "quorate/raftstore/snapshot."}},
	{"event: history and watchers", []string{"quorate/raftstore/history.", "quorate/apiserver/rest/watch."}},
	{"apply", []string{"quorate/raftstore/fsm.", "quorate/raftstore/applier.", "quorate/raftstore/state."}},
	{"forward: gRPC between nodes", []string{"google.golang.org/grpc", "quorate/raftstore/forward."}},
	{"replicate: transport of Raft, with TLS", []string{"quorate/raftstore/transport.", "hashicorp/raft.(*NetworkTransport)", "hashicorp/raft.(*netPipeline)"}},
	{"TLS and sockets of clients", []string{"crypto/tls."}},
	{"decode, default, validate, encode objects", []string{"quorate/apiserver/objects", "quorate/apiserver/wire/negotiate"}},
	{"authenticate, authorize, limit, admit", []string{"quorate/apiserver/access", "quorate/apiserver/admission"}},
	{"propose: latch, precheck, entry", []string{"quorate/raftstore/write.", "quorate/raftstore.(*Store)"}},
	{"Raft: leader, replication and follower loops", []string{"hashicorp/raft"}},
	{"HTTP/2", []string{"quorate/apiserver/wire/h2", "net/http"}},
	{"the rest of the API server", []string{"quorate/apiserver"}},
	{"gossip, membership", []string{"hashicorp/memberlist", "quorate/cluster"}},
	{"scheduling, timers, network poller", []string{"runtime.mcall", "runtime.schedule", "runtime.findRunnable", "runtime.mstart", "runtime.goexit0", "runtime.park_m"}},
}

// otherStage is for samples without a known function.
const otherStage = "other"

// stageOf returns the stage of a stack.
func stageOf(stack []string) string {
	for _, s := range stages {
		for _, part := range s.functions {
			for _, function := range stack {
				if strings.Contains(function, part) {
					return s.name
				}
			}
		}
	}
	return otherStage
}
