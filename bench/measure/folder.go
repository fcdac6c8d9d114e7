package measure

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// InFolder calls run with a new folder in parent ("": that for temporary files), whose name begins
// with prefix, and removes the folder afterwards. The context of run ends at a signal to end the
// process, and after the limit.
func InFolder(parent, prefix string, limit time.Duration, run func(ctx context.Context, dir string) error) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return run(ctx, dir)
}
