package solo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// clockTick is the unit of the times in /proc, which is the same on all of Linux's architectures.
const clockTick = 10 * time.Millisecond

// ProcessorTime returns the processor time that a process has used.
func ProcessorTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) // from the third field on
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// Memory returns the resident memory of a process in bytes, and the most that it has had since
// ResetPeak.
func Memory(pid int) (now, peak int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	now, err = kilobytes(text, "VmRSS:")
	peak, err2 := kilobytes(text, "VmHWM:")
	return now, peak, errors.Join(err, err2)
}

// kilobytes returns a value of /proc/PID/status in bytes.
func kilobytes(text []byte, name string) (int64, error) {
	_, rest, _ := bytes.Cut(text, []byte(name))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("no %s in the status of a process", name)
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10, err
}

// ResetPeak makes the present memory of a process the most that it has had.
func ResetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600)
}
