package network

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm is a timer of the kernel. Timers of the runtime may be a millisecond late while a process
// has nothing else to do, because it then sleeps for whole milliseconds: too late for delays of a
// few.
type alarm struct {
	fd   int
	file *os.File // of fd
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create a timer: %w", err)
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timer")}, nil
}

// set makes await return after a time, instead of after an earlier one that has not passed.
func (a *alarm) set(after time.Duration) error {
	value := unix.NsecToTimespec(max(1, after.Nanoseconds())) // 0 would mean never
	if err := unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: value}, nil); err != nil {
		return fmt.Errorf("set a timer to %v: %w", after, err)
	}
	return nil
}

// await waits for the time of set. It returns an error after close.
func (a *alarm) await() error {
	var expirations [8]byte
	_, err := a.file.Read(expirations[:])
	return err
}

func (a *alarm) close() error { return a.file.Close() }
