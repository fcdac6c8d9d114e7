package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// child is what a process does on a disk that another one serves.
func child(verb string, args ...string) error {
	switch verb {
	case "sync":
		f, err := os.Create(args[0])
		if err != nil {
			return err
		}
		// The system call itself, which isn't made again when it is interrupted: so does bbolt.
		return errors.Join(unix.Fdatasync(int(f.Fd())), f.Close())
	case "serve":
		d, err := Mount(args[0], args[1], slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		fmt.Println(os.WriteFile(filepath.Join(d.Dir(), "f"), []byte("written"), 0o644))
		select {} // until it is killed
	case "map":
		return mapAndWrite(args[0])
	case "commit":
		return commit(args[0], args[1])
	case "committed":
		return committed(args[0])
	default:
		return errors.New("no such verb: " + verb)
	}
}

// start starts a child process. It is killed when the test ends.
func start(t testing.TB, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childVariable+"=1", "GORACE=atexit_sleep_ms=0") // or the race detector waits a second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			kill(t, cmd)
		}
	})
	return cmd, bufio.NewScanner(out)
}

func kill(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	must(t, cmd.Process.Kill())
	cmd.Wait() // it says that it was killed
}

// output is what a child process prints that ends by itself.
func output(t testing.TB, args ...string) string {
	t.Helper()
	cmd, lines := start(t, args...)
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
	}
	must(t, errors.Join(lines.Err(), cmd.Wait()))
	return strings.Join(all, "\n")
}

// TestHungFsyncEndsByKill checks that SIGKILL ends an fsync that hangs, and other signals do not.
func TestHungFsyncEndsByKill(t *testing.T) {
	d := mounted(t)
	d.Set(Faults{HangFsync: true})
	cmd, _ := start(t, "sync", filepath.Join(d.Dir(), "f"))
	eventually(t, "the fsync hangs", func() bool { return d.Stats().Hanging == 1 })
	for range 20 {
		must(t, cmd.Process.Signal(syscall.SIGURG)) // as Go's scheduler does
	}
	for range 10 {
		time.Sleep(killPoll) // the process lives on all that time, or Kill below fails
		if d.Stats().Hanging != 1 {
			t.Fatal("a signal that isn't deadly ended an fsync")
		}
	}
	kill(t, cmd)
	eventually(t, "nothing hangs", func() bool { return d.Stats().Hanging == 0 })
	must(t, d.Crash())
	wantGone(t, filepath.Join(d.Dir(), "f"))
	d.Set(Faults{})
	if out := output(t, "sync", filepath.Join(d.Dir(), "f")); out != "" {
		t.Error(out)
	}
}

func mapAndWrite(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, 2*pageBytes, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	fmt.Printf("%c%c ", mapped[0], mapped[pageBytes])
	_, err = f.WriteAt([]byte(strings.Repeat("n", pageBytes)), 0)
	failed := errors.Is(err, syscall.EIO)
	// What failed is forgotten before the write is answered, or soon after where that takes longer
	// than wipeWait.
	for deadline := time.Now().Add(30 * time.Second); failed && mapped[0] == 'n' && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("%c%c %v\n", mapped[0], mapped[pageBytes], failed)
	return unix.Munmap(mapped)
}

// TestMappedFile checks that a mapping shows writes at once, and shows neither a write that failed
// nor data from before a power cut.
func TestMappedFile(t *testing.T) {
	d := mounted(t)
	path := filepath.Join(d.Dir(), "f")
	store(t, path, strings.Repeat("o", 2*pageBytes), true)
	d.Set(Faults{FailWrites: true})
	for _, want := range []string{"oo oo true", "oo no false", "oo no false"} {
		if got := output(t, "map", path); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		must(t, d.Crash())
		d.Set(Faults{})
	}
}

func key(i uint64) []byte { return binary.BigEndian.AppendUint64(nil, i) }

// commit makes one bbolt transaction after another, each with the next key, and prints the key when
// it is committed.
func commit(path, count string) error {
	most, err := strconv.ParseUint(count, 10, 64)
	if err != nil {
		return err
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: 64 << 20})
	if err != nil {
		return err
	}
	next := uint64(1)
	for range most {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			if last, _ := b.Cursor().Last(); last != nil {
				next = binary.BigEndian.Uint64(last) + 1
			}
			if next%5 == 0 { // and so pages are freed and used again
				if err := b.Delete(key(next - 4)); err != nil {
					return err
				}
			}
			return b.Put(key(next), make([]byte, 300+next%5*1000))
		})
		if err != nil {
			return err
		}
		fmt.Println(next)
	}
	return db.Close()
}

// committed checks a bbolt file and prints the last key.
func committed(path string) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		last := uint64(0)
		err := tx.Bucket([]byte("b")).ForEach(func(key, value []byte) error {
			last = binary.BigEndian.Uint64(key)
			if len(value) != 300+int(last%5)*1000 {
				return fmt.Errorf("key %d has %d bytes", last, len(value))
			}
			return nil
		})
		fmt.Println(last)
		return err
	})
	return errors.Join(err, db.Close())
}
