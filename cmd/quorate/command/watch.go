package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"quorate/progress"
)

// leastInterval bounds the load of --watch.
const leastInterval = 100 * time.Millisecond

// watch holds the flags of commands that can show their output again and again.
type watch struct {
	on       bool
	interval time.Duration
}

func (w *watch) register(flags *pflag.FlagSet) {
	flags.BoolVarP(&w.on, "watch", "w", false, "show it again and again, until interrupted; an error does not end it")
	flags.DurationVar(&w.interval, "interval", 2*time.Second, "pause of --watch")
}

func (w *watch) check() error {
	if w.interval < leastInterval {
		return usageError{fmt.Errorf("--interval %s: want at least %s", w.interval, leastInterval)}
	}
	return nil
}

// run calls show once or, with --watch, until ctx ends, which is no error then. On a terminal each
// round replaces the one before.
func (w *watch) run(ctx context.Context, p *Process, show func(ctx context.Context, to io.Writer) error) error {
	if !w.on {
		return show(ctx, p.Stdout)
	}
	again := time.NewTicker(w.interval)
	defer again.Stop()
	terminal := progress.IsTerminal(p.Stdout)
	for {
		var screen bytes.Buffer
		err := show(ctx, &screen)
		if ctx.Err() != nil {
			return nil // interrupted by the user
		}
		if errors.As(err, new(usageError)) {
			return err
		}
		if err != nil {
			fmt.Fprintln(&screen, "quorate:", oneLine(err))
		}
		if err := draw(p.Stdout, terminal, screen.Bytes()); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}

// The control sequences of ECMA-48 that draw uses.
const (
	toOrigin   = "\x1b[H"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// draw writes one round. On a terminal it overwrites the one before line by line, which does not
// flicker.
func draw(to io.Writer, terminal bool, screen []byte) error {
	if terminal {
		screen = bytes.ReplaceAll(screen, []byte("\n"), []byte(clearLine+"\n"))
		screen = append([]byte(toOrigin), append(screen, clearBelow...)...)
	}
	_, err := to.Write(screen)
	return err
}
