package log

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/hashicorp/raft"
)

const benchEntry = 1331 // bytes of the entry of a 1 KiB ConfigMap

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 32, 256} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			s := open(b, pathOf(b), func(c *Config) { c.MaxBytes, c.SegmentBytes = 4<<30, DefaultSegmentBytes })
			batch := entries(1, n, benchEntry)
			next := uint64(1)
			b.ReportAllocs()
			b.SetBytes(int64(n * benchEntry))
			for b.Loop() {
				for _, e := range batch {
					e.Index = next
					next++
				}
				if err := s.StoreLogs(batch); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReadHistory(b *testing.B) {
	const n = 10_000
	s := open(b, pathOf(b))
	fill(b, s, 1, n, benchEntry)
	b.ReportAllocs()
	for b.Loop() {
		read := 0
		if _, err := s.Read(b.Context(), 0, n, 0, func(uint64, []byte) error { read++; return nil }); err != nil || read != n {
			b.Fatal(read, err)
		}
	}
}

func BenchmarkGetLog(b *testing.B) {
	const n = 10_000
	s := open(b, pathOf(b), func(c *Config) { c.CacheEntries = n / 2 })
	fill(b, s, 1, n, benchEntry)
	for name, from := range map[string]uint64{"disk": 1, "memory": n/2 + 1} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var got raft.Log
			for i := uint64(0); b.Loop(); i++ {
				if err := s.GetLog(from+i%(n/2), &got); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	const n = 10_000
	s := open(b, pathOf(b))
	fill(b, s, 1, n, benchEntry)
	b.SetBytes(n * benchEntry)
	for b.Loop() {
		if err := s.Verify(b.Context(), 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens a log of 307 MB with two entries on each page.
func BenchmarkOpen(b *testing.B) {
	path := pathOf(b)
	s := open(b, path)
	for from := uint64(1); from <= 150_000; from += 5000 {
		store(b, s, entries(from, 5000, benchEntry))
	}
	afterCrash := crashed(b, path)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("closed properly", func(b *testing.B) {
		for b.Loop() {
			if err := open(b, path).Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("after a crash", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			again := crashed(b, afterCrash)
			syscall.Sync() // so that the log does not write the copy's pages
			b.StartTimer()
			if err := open(b, again).Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRemoveAll removes a log of 40 MB, as the installation of a snapshot does.
func BenchmarkRemoveAll(b *testing.B) {
	s := open(b, pathOf(b))
	for b.Loop() {
		b.StopTimer()
		first, _ := s.LastIndex()
		first++
		for from := first; from < first+30_000; from += 5000 {
			store(b, s, entries(from, 5000, benchEntry))
		}
		b.StartTimer()
		if err := s.DeleteRange(first, first+30_000); err != nil {
			b.Fatal(err)
		}
	}
}
