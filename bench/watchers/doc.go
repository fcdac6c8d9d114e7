// Command watchers measures what watches cost a node, and how they survive one.
//
//	make build
//	go run ./bench/watchers                              # 20,000 idle watches of each kind
//	go run ./bench/watchers -watches 100000 -only label  # of one kind
//	go run ./bench/watchers -reflectors 100              # that list 100,000 objects and watch them
//	go run ./bench/watchers -failover                    # 10,000 on three nodes, of which the leader dies
//
// Idle watches: one node has the watches, another none. The command creates objects that concern
// none of the watches on both nodes in turn, and compares the processor time of a create. Then it
// creates objects that concern one watch each, and takes the time until that watch has the event.
// The memory of a watch is the growth of the node's resident memory, garbage included, divided by
// their number.
//
// Reflectors: all of them list the objects at once, as the controllers of a control plane that
// restarts, and then watch from the version of the list. A reflector is live when it has received an
// event of an object that is created after all lists. A request that gets 429 is sent again after a
// second. Another user gets one object at a time meanwhile.
//
// Failover: a writer numbers its writes to one object, which all watchers follow. Then the leader is
// killed, and the watchers that it served resume at the version of their last event on one of the
// other nodes. A watcher is live again with the first write after that. A number that a watcher
// misses or a version that is not later than the one before ends the command with an error.
//
// Clients and nodes share the machine, whose processors all of the times depend on; processor time
// and memory do not.
package main
