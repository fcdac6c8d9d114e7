package simulation_test

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"quorate/chaos/simulation"
)

var (
	oneSeed = flag.Uint64("seed", 0, "replay this seed, and print what happens")
	seeds   = flag.Int("seeds", defaultSeeds, "how many seeds TestSeeds runs, from 1 on")
	from    = flag.Uint64("from", 1, "the first seed that TestSeeds runs")
)

// memoryLimit bounds the memory of these tests.
const memoryLimit = 512 << 20

func TestMain(m *testing.M) {
	// Runs are short and make much garbage. Each s2.Writer, with about 2 MiB of buffers for every
	// snapshot, contains a sync.Pool, which keeps the writer reachable until the next collection.
	// So nearly all that was allocated since the last collection counts as live, and without a
	// limit the heap would grow fivefold from one collection to the next.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit)
	goleak.VerifyTestMain(m)
}

// run runs a simulation in its own simulated time.
func run(t *testing.T, o simulation.Options) (r simulation.Result) {
	t.Helper()
	synctest.Test(t, func(*testing.T) { r = simulation.Run(o) })
	return r
}

// eachSeed runs do for the seeds, on all cores, until one fails.
func eachSeed(t *testing.T, count int, do func(t *testing.T, seed uint64) (goOn bool)) {
	var next atomic.Uint64
	var stop atomic.Bool
	next.Store(*from - 1)
	t.Run("workers", func(t *testing.T) {
		for i := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for !stop.Load() {
					seed := next.Add(1)
					if seed >= *from+uint64(count) {
						return
					}
					if !do(t, seed) {
						stop.Store(true)
					}
				}
			})
		}
	})
}

// TestSeeds runs many clusters through faults, each decided by its seed. With -seed it replays one.
func TestSeeds(t *testing.T) {
	if *oneSeed > 0 {
		r := run(t, simulation.Options{Seed: *oneSeed, Trace: os.Stdout})
		t.Logf("%s of simulated time, trace %016x, %+v", r.Simulated, r.Hash, r.Counts)
		if r.Err != nil {
			t.Error(r.Err)
		}
		return
	}
	count := *seeds
	if testing.Short() {
		count = min(count, shortSeeds)
	}
	var mu sync.Mutex
	var total simulation.Counts // guarded by mu
	eachSeed(t, count, func(t *testing.T, seed uint64) bool {
		r := run(t, simulation.Options{Seed: seed})
		if r.Err != nil {
			t.Errorf("%v\nreplay it: go test ./chaos/simulation -run TestSeeds -seed %d", r.Err, seed)
		}
		mu.Lock()
		defer mu.Unlock()
		total.Add(r.Counts)
		return r.Err == nil
	})
	t.Logf("%d seeds: %+v", count, total)
	if missing := total.Missing(); count >= shortSeeds && !t.Failed() && len(missing) > 0 {
		t.Errorf("what is to be tested never happened: %v", missing)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.Sys > 2*memoryLimit {
		t.Errorf("the seeds took %d MiB of memory, want at most %d", memory.Sys>>20, 2*memoryLimit>>20)
	}
}

// TestSameSeedSameTrace runs seeds twice, one after the other and beside others, and wants the same
// trace to the byte.
func TestSameSeedSameTrace(t *testing.T) {
	eachSeed(t, repeatedSeeds, func(t *testing.T, seed uint64) bool {
		var traces [2]trace
		var results [2]simulation.Result
		for i := range traces {
			results[i] = run(t, simulation.Options{Seed: seed, Trace: &traces[i]})
		}
		if results[0].Hash == results[1].Hash && results[0].Counts == results[1].Counts {
			return true
		}
		t.Errorf("seed %d gave two runs: %s", seed, traces[0].differs(&traces[1]))
		return false
	})
}

// trace keeps the lines of a run.
type trace struct{ lines []string }

func (tr *trace) Write(line []byte) (int, error) {
	tr.lines = append(tr.lines, string(line))
	return len(line), nil
}

func (tr *trace) differs(other *trace) string {
	for i := range min(len(tr.lines), len(other.lines)) {
		if tr.lines[i] != other.lines[i] {
			return fmt.Sprintf("line %d is %q and %q", i, tr.lines[i], other.lines[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(tr.lines), len(other.lines))
}

// TestMutations breaks one rule at a time: each must be found out, by a seed among the first ones.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("runs hundreds of seeds")
	}
	for _, m := range simulation.Mutations() {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(mutatedSeeds) {
				if r := run(t, simulation.Options{Seed: seed + 1, Mutation: m}); r.Err != nil {
					t.Logf("found out: %.200v", r.Err)
					return
				}
			}
			t.Errorf("not found out by %d seeds", mutatedSeeds)
		})
	}
}
