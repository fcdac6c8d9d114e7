package failpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ClockEnv returns the variable that tells a node's process, built with Options.Clock, which file
// says how far its wall clock is from the machine's. The file must exist when the process starts:
// see WriteClock.
func ClockEnv(path string) string { return "QUORATE_TEST_CLOCK=" + path }

// WriteClock says how far a wall clock is to be from the machine's. A process that runs looks again
// on SIGUSR2.
func WriteClock(path string, offset time.Duration) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write clock: %w", err)
	}
	_, err = temporary.WriteString(offset.String() + "\n")
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // what went wrong before says more
		return fmt.Errorf("write clock: %w", err)
	}
	return nil
}
