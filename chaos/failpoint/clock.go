package failpoint

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ClockEnv returns the environment variable, as NAME=path, that makes a node built with
// Options.Clock read the offset of its wall clock from the file at path. A process whose file does
// not exist exits at its start, so call WriteClock first.
func ClockEnv(path string) string { return "QUORATE_TEST_CLOCK=" + path }

// WriteClock atomically writes the offset of a wall clock from the machine's clock to the file at
// path. A running process reads the file again on SIGUSR2.
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
