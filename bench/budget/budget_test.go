package main

import (
	"strings"
	"testing"
	"time"

	"quorate/bench/generator"
)

// recorded is part of a profile of a leader, as go tool pprof -traces prints it.
const recorded = `File: quorate
Type: cpu
Duration: 6s, Total samples = 2010000us (33.50%)
-----------+-------------------------------------------------------
   10000us   internal/godebug.(*Setting).Value
             time.After (inline)
             github.com/hashicorp/raft.(*Raft).Apply (inline)
             quorate/raftstore/write.(*Writer).propose
             quorate/apiserver/rest.(*resource).create
             net/http.serverHandler.ServeHTTP
             quorate/apiserver/wire/h2.(*stream).run
-----------+-------------------------------------------------------
   30000us   syscall.Fdatasync
             quorate/raftstore/log.(*segment).sync
             github.com/hashicorp/raft.(*Raft).dispatchLogs
-----------+-------------------------------------------------------
     label:  value
   20000us   internal/runtime/syscall.Syscall6
             crypto/tls.(*Conn).Write
             quorate/apiserver/wire/h2.(*conn).flush
-----------+-------------------------------------------------------
   40000us   runtime.futex
             unknown.function
-----------+-------------------------------------------------------
`

func TestReadTraces(t *testing.T) {
	t.Parallel()
	byStage, total, err := readTraces([]byte(recorded))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{
		"propose: latch, precheck, entry": 10 * time.Millisecond,
		"fsync":                           30 * time.Millisecond,
		"TLS and sockets of clients":      20 * time.Millisecond,
		otherStage:                        40 * time.Millisecond,
	}
	if total != 100*time.Millisecond || len(byStage) != len(want) {
		t.Errorf("got %v of %v", byStage, total)
	}
	for name, took := range want {
		if byStage[name] != took {
			t.Errorf("%s: got %v, want %v", name, byStage[name], took)
		}
	}
	if _, _, err := readTraces([]byte("File: quorate\n")); err == nil {
		t.Error("a profile without samples is no error")
	}
}

// The rows add up to the processor time of all nodes for each operation.
func TestTable(t *testing.T) {
	t.Parallel()
	half := map[string]time.Duration{"fsync": time.Second, "apply": time.Second}
	shares := []share{
		{perOp: 100, byStage: half, total: 2 * time.Second},
		{leader: true, perOp: 200, byStage: half, total: 2 * time.Second},
		{perOp: 60, byStage: half, total: 2 * time.Second},
	}
	text := table(&generator.Measurement{Label: "three", Scenario: "create", Conc: 32, Rate: 2000, CPU: 360, Latency: generator.Latency{P50: 12}}, shares)
	for _, want := range []string{"2000/s, p50 12.0 ms, 360 µs", "| fsync | 100 | 40 | 180 |", "| apply | 100 | 40 | 180 |", "| HTTP/2 | 0 | 0 | 0 |", "| all | 200 | 80 | 360 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}
