package disk

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// places are a plain directory and a disk above one like it.
func places(b *testing.B, run func(b *testing.B, dir string)) {
	b.Run("plain", func(b *testing.B) { run(b, b.TempDir()) })
	b.Run("disk", func(b *testing.B) { run(b, mounted(b).Dir()) })
}

// BenchmarkAppend appends and syncs, as a log does.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{512, 4096, 65536} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			places(b, func(b *testing.B, dir string) {
				f, err := os.Create(filepath.Join(dir, "log"))
				must(b, err)
				defer f.Close()
				data := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					_, err := f.Write(data)
					must(b, err)
					must(b, f.Sync())
				}
			})
		})
	}
}

// BenchmarkBolt has another process commit bbolt transactions, each of one key. "cpu-µs/op" is what
// serving the disk takes of this one.
func BenchmarkBolt(b *testing.B) {
	places(b, func(b *testing.B, dir string) {
		cmd, lines := start(b, "commit", filepath.Join(dir, "x.db"), "1000000")
		for range 100 { // past the first pages
			lines.Scan()
		}
		began, cpu := time.Now(), spent(b)
		n := 0
		for b.Loop() {
			if !lines.Scan() {
				b.Fatal("the process ended")
			}
			n++
		}
		b.ReportMetric(float64(n)/time.Since(began).Seconds(), "commits/s")
		b.ReportMetric(float64((spent(b)-cpu).Microseconds())/float64(n), "cpu-µs/op")
		kill(b, cmd)
	})
}

// spent is the CPU time of this process.
func spent(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRead reads a file that the kernel has no page of.
func BenchmarkRead(b *testing.B) {
	d := mounted(b)
	path := filepath.Join(d.Dir(), "f")
	store(b, path, string(make([]byte, 8<<20)), true)
	b.SetBytes(8 << 20)
	for b.Loop() {
		must(b, d.Crash())
		_, err := os.ReadFile(path)
		must(b, err)
	}
}
