package transport_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"quorate/raftstore/testcluster"
	"quorate/raftstore/transport"
)

// acceptAll responds to all requests with success until its transport is closed.
func acceptAll(to *transport.Raft, end <-chan struct{}) {
	for {
		select {
		case rpc := <-to.Consumer():
			if install, ok := rpc.Command.(*raft.InstallSnapshotRequest); ok {
				_, err := io.CopyN(io.Discard, rpc.Reader, install.Size)
				rpc.Respond(&raft.InstallSnapshotResponse{Success: true}, err)
				continue
			}
			rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
		case <-end:
			return
		}
	}
}

// TestFollowersAreReported checks that the transport reports what followers have stored, by
// requests and in a pipeline, and which snapshots they have installed. It also checks that the
// transport shortens requests that are too long for a slow link, and that the library can see which
// entries were sent.
func TestFollowersAreReported(t *testing.T) {
	authority := testcluster.NewAuthority(t)
	server, _ := listen(t, authority.Peer(t, "server"), 0)
	client, _ := listen(t, authority.Peer(t, "client"), 0)
	to := server.Raft(nil, 10*time.Second, hclog.NewNullLogger())
	from := client.Raft(nil, 10*time.Second, hclog.NewNullLogger())
	var mu sync.Mutex
	var stored, installed []uint64
	from.SetFollowers(transport.Followers{
		Installed: func(id raft.ServerID, index uint64, took time.Duration) {
			if id != "server" || took <= 0 {
				t.Errorf("%s has installed a snapshot in %s", id, took)
			}
			installed = append(installed, index)
		},
		Stored: func(id raft.ServerID, index uint64) {
			if id != "server" {
				t.Errorf("%s has stored an entry", id)
			}
			mu.Lock()
			defer mu.Unlock()
			stored = append(stored, index)
		},
	})
	end := make(chan struct{})
	var answering sync.WaitGroup
	answering.Go(func() { acceptAll(to, end) })
	address := raft.ServerAddress(server.Addr().String())
	request := func(prev uint64, sizes ...int) *raft.AppendEntriesRequest {
		req := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, Term: 1, PrevLogEntry: prev}
		for i, size := range sizes {
			req.Entries = append(req.Entries, &raft.Log{Index: prev + 1 + uint64(i), Data: make([]byte, size)})
		}
		return req
	}

	long := request(10, 600<<10, 300<<10, 300<<10, 1)
	if err := from.AppendEntries("server", address, long, &raft.AppendEntriesResponse{}); err != nil || len(long.Entries) != 2 {
		t.Errorf("%d entries sent, %v", len(long.Entries), err)
	}
	single := request(12, 2<<20, 1)
	if err := from.AppendEntries("server", address, single, &raft.AppendEntriesResponse{}); err != nil || len(single.Entries) != 1 {
		t.Errorf("%d entries sent, %v", len(single.Entries), err)
	}
	p, err := from.AppendEntriesPipeline("server", address)
	if err != nil {
		t.Fatal(err)
	}
	piped := request(13, 900<<10, 900<<10)
	if _, err := p.AppendEntries(piped, &raft.AppendEntriesResponse{}); err != nil || len(piped.Entries) != 1 {
		t.Errorf("%d entries sent in a pipeline, %v", len(piped.Entries), err)
	}
	<-p.Consumer()
	snapshot := &raft.InstallSnapshotRequest{RPCHeader: raft.RPCHeader{Addr: []byte("x")}, LastLogIndex: 9, Size: 5}
	if err := from.InstallSnapshot("server", address, snapshot, &raft.InstallSnapshotResponse{}, bytes.NewReader(make([]byte, 5))); err != nil {
		t.Error(err)
	}
	if err := errors.Join(p.Close(), from.Close(), to.Close()); err != nil {
		t.Error(err)
	}
	close(end)
	answering.Wait()
	if !slices.Equal(stored, []uint64{12, 13, 14}) || !slices.Equal(installed, []uint64{9}) {
		t.Errorf("reported entries %v and snapshots %v", stored, installed)
	}
}
