package appendrpc

import (
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"
)

func drawBytes(t *rapid.T, most int, name string) []byte {
	b := rapid.SliceOfN(rapid.Byte(), 0, most).Draw(t, name)
	if len(b) == 0 {
		return nil
	}
	return b
}

func drawHeader(t *rapid.T) raft.RPCHeader {
	return raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersion(rapid.IntRange(0, 3).Draw(t, "version")),
		ID:              drawBytes(t, 20, "id"), Addr: drawBytes(t, 20, "address"),
	}
}

func drawEntry(t *rapid.T) *raft.Log {
	e := &raft.Log{
		Index: rapid.Uint64().Draw(t, "index"), Term: rapid.Uint64().Draw(t, "term"),
		Type: raft.LogType(rapid.Byte().Draw(t, "type")),
		Data: drawBytes(t, 300, "data"), Extensions: drawBytes(t, 5, "extensions"),
	}
	if rapid.Bool().Draw(t, "has time") {
		e.AppendedAt = time.Unix(0, rapid.Int64Range(-1<<60, 1<<60).Draw(t, "time")).UTC()
	}
	return e
}

func drawRequest(t *rapid.T) *raft.AppendEntriesRequest {
	req := &raft.AppendEntriesRequest{
		RPCHeader: drawHeader(t), Term: rapid.Uint64().Draw(t, "leader's term"),
		PrevLogEntry: rapid.Uint64().Draw(t, "previous"), PrevLogTerm: rapid.Uint64().Draw(t, "previous term"),
		LeaderCommitIndex: rapid.Uint64().Draw(t, "commit"), Entries: []*raft.Log{},
	}
	for range rapid.IntRange(0, 5).Draw(t, "entries") {
		req.Entries = append(req.Entries, drawEntry(t))
	}
	return req
}

// A request arrives as it was sent, and keeps nothing of the buffer that it was decoded from. One
// that is cut short or too long is refused.
func TestRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		req := drawRequest(t)
		b := appendRequest(nil, req)
		received := append([]byte(nil), b...)
		got, err := decodeRequest(received)
		clear(received)
		if err != nil || !reflect.DeepEqual(got, req) {
			t.Fatalf("got %+v, %v; want %+v", got, err, req)
		}
		if _, err := decodeRequest(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]); !errors.Is(err, errMalformed) {
			t.Fatalf("a request that is cut short: %v", err)
		}
		if _, err := decodeRequest(append(b, 0)); !errors.Is(err, errMalformed) {
			t.Fatalf("a request that is too long: %v", err)
		}
	})
}

func TestResponse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		resp := &raft.AppendEntriesResponse{
			RPCHeader: drawHeader(t), Term: rapid.Uint64().Draw(t, "term"), LastLog: rapid.Uint64().Draw(t, "last"),
			Success: rapid.Bool().Draw(t, "success"), NoRetryBackoff: rapid.Bool().Draw(t, "no backoff"),
		}
		var refusal error
		if rapid.Bool().Draw(t, "refused") {
			refusal = errors.New("refused")
		}
		b := appendResponse(nil, resp, refusal)
		got := &raft.AppendEntriesResponse{Success: true}
		err := decodeResponse(b, got)
		if !reflect.DeepEqual(got, resp) || (err != nil) != (refusal != nil) || err != nil && err.Error() != "refused" {
			t.Fatalf("got %+v, %v; want %+v, %v", got, err, resp, refusal)
		}
		if err := decodeResponse(b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")], got); !errors.Is(err, errMalformed) {
			t.Fatalf("a response that is cut short: %v", err)
		}
		if err := decodeResponse(append(b, 0), got); !errors.Is(err, errMalformed) {
			t.Fatalf("a response that is too long: %v", err)
		}
	})
}

// A peer can't make a node allocate more than a multiple of what it has sent.
func TestNumberOfEntriesIsBounded(t *testing.T) {
	b := appendRequest(nil, &raft.AppendEntriesRequest{})
	b = binary.AppendUvarint(b[:len(b)-1], 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := decodeRequest(b); !errors.Is(err, errMalformed) {
		t.Errorf("got %v", err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated for a request of %d", n, len(b))
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(appendRequest(nil, &raft.AppendEntriesRequest{Entries: []*raft.Log{{Index: 1, Data: []byte("x")}}}))
	f.Add(appendResponse(nil, &raft.AppendEntriesResponse{Success: true}, errors.New("x")))
	f.Fuzz(func(t *testing.T, b []byte) {
		if req, err := decodeRequest(b); err == nil {
			again, err := decodeRequest(appendRequest(nil, req))
			if err != nil || !reflect.DeepEqual(again, req) {
				t.Errorf("got %+v, %v; want %+v", again, err, req)
			}
		}
		var resp raft.AppendEntriesResponse
		_ = decodeResponse(b, &resp) // must not panic
	})
}

// BenchmarkRequest encodes and decodes a request with 8 entries of 1 KiB.
func BenchmarkRequest(b *testing.B) {
	req := &raft.AppendEntriesRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n1"), Addr: []byte("127.0.0.1:7000")}, Term: 3}
	for i := range uint64(8) {
		req.Entries = append(req.Entries, &raft.Log{Index: 1000 + i, Term: 3, Data: make([]byte, 1<<10), AppendedAt: time.Unix(1700000000, 0)})
	}
	var buf []byte
	for b.Loop() {
		buf = appendRequest(buf[:0], req)
		if _, err := decodeRequest(buf); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)-8<<10)/8, "extra-bytes/entry")
}
