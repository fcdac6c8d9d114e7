package raftstore

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"quorate/proto/peerpb"
	"quorate/raftstore/diskguard"
)

// DefaultDiskReserve is the free space on the disk, in bytes, below which a node has "no space".
const DefaultDiskReserve = diskguard.DefaultReserve

// The alarms.
const (
	// NoSpace reports that the disk of a node's data directory has less free space than the
	// reserve.
	NoSpace = diskguard.NoSpace
	// DiskStalled reports that a running write to a node's log exceeds the time limit.
	DiskStalled = diskguard.DiskStalled
	// Diverged reports that a node's state differs from that of most nodes. Only the leader raises
	// it, about any node.
	Diverged = diskguard.Diverged
)

// AlarmName is a kind of alarm.
type AlarmName = diskguard.AlarmName

// AlarmNames returns the names of all alarms.
func AlarmNames() []AlarmName { return diskguard.AlarmNames() }

// Alarm is a problem that an operator should know of. The node that detects the problem raises the
// alarm, and clears it when the problem is gone. No acknowledgment is needed.
type Alarm = diskguard.Alarm

// Alarms returns the alarms that this node has raised, by name: its own, and as leader those about
// other nodes. The caller must not change them.
func (s *Store) Alarms() []Alarm { return s.alarms.List() }

// DiskFree returns the free bytes on the disk of the data directory, those that this node has
// claimed for its log included. known is false before they were measured.
func (s *Store) DiskFree() (bytes int64, known bool) { return s.space.Free() }

// DiskNeeded returns how many bytes on the disk of the data directory must stay free, or the leader
// refuses writes: the reserve, what the next snapshot takes, and what is claimed. It returns 0
// before the disk was measured.
func (s *Store) DiskNeeded() int64 {
	free, known := s.space.Free()
	if !known {
		return 0
	}
	room, _ := s.space.Room()
	return free - room
}

// Alarms returns this node's alarms to a peer.
func (p rpc) Alarms(_ context.Context, req *peerpb.AlarmsRequest) (*peerpb.AlarmsResponse, error) {
	if err := p.admit(req.GetClusterId()); err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	writes, deletions := p.store.space.Room()
	resp := &peerpb.AlarmsResponse{
		Exhausted: p.store.space.Exhausted(), RoomForWrites: &writes, RoomForDeletions: &deletions,
		AppendNanos: p.store.log.AppendTime().Nanoseconds(),
	}
	for _, a := range p.store.Alarms() {
		resp.Alarms = append(resp.Alarms, a.Proto())
	}
	return resp, nil
}
