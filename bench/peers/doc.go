// Command peers measures bin/quorate beside kube-apiserver with etcd, on one node and on three, and
// prints how they compare. `make bench-peers` runs it in the root of the repository.
//
//	go run ./bench/peers -mode quick              # one short round, to see that everything works
//	go run ./bench/peers -base v1.2.2             # an older build of Quorate, too
//	go run ./bench/peers -kube-apiserver FILE -etcd FILE   # these binaries instead of built ones
//
// It builds the peer's binaries from Go modules at pinned versions, which Go's checksum database
// authenticates, unless they are built already. A node of the peer is one API server with one etcd;
// each API server uses its own etcd, as kubeadm sets it up. All systems run with their defaults:
// TLS between all processes, RBAC, synced writes, logs in files. With -base it also builds a commit
// of Quorate in a temporary worktree of git, which becomes the third system.
//
// The systems take turns: in each round, one after the other runs alone on the machine, on one node
// and on three, in an empty temporary directory, under the same load of the same generator. The
// first of a round is the last of the next. A figure is the median of all rounds, its spread the
// lowest and the highest. Rounds, measurements, builds and everything together are bounded in time.
//
// The folder of -out gets results.json, results.md and results.html, and the generator's lines of
// each system in quorate.jsonl, peer.jsonl and base.jsonl, which bench -peers reads.
package main
