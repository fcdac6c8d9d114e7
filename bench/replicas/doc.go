// Command replicas measures what non-voters, which serve reads, cost the leader, and what they add.
//
//	make build
//	go run ./bench/replicas                       # 3 voters with 0, 3, 6 and 12 non-voters
//	go run ./bench/replicas -nonvoters 0,20 -rate 200
//
// At each number of non-voters it writes at a fixed rate, on the leader, and takes the processor time
// of the leader and the bytes that it sends to each non-voter for one write. The fixed rate is so low
// that the machine carries all nodes: the leader then batches alike, whatever their number. Then as
// many writers as the leader has clients write as fast as they can, and clients get objects from the
// memory of all nodes.
//
// All nodes share the machine, so the rates fall with their number, as they would not on machines of
// their own. What scales is shown by processor time: that of the leader for a write, and that of all
// nodes for a get, without what they use at rest. As a get takes the same on each node, each node
// adds what its processors can do.
package main
