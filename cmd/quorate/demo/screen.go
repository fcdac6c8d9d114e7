package demo

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// keyPoll is how often the reader of keys looks whether it shall end: a read of a terminal can't be
// interrupted.
const keyPoll = 100 * time.Millisecond

// Control sequences of terminals (ECMA-48, and xterm's for the alternate screen).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	toTop       = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// screen is a terminal in raw mode that shows the alternate screen.
type screen struct {
	in, out *os.File
	before  *term.State
	shown   string
}

// openScreen changes the mode of the terminal; close restores it.
func openScreen(in, out *os.File) (*screen, error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	s := &screen{in: in, out: out, before: before}
	if _, err := out.WriteString(enterScreen); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *screen) close() error {
	_, err := s.out.WriteString(leaveScreen)
	return errors.Join(err, term.Restore(int(s.in.Fd()), s.before))
}

// show replaces what the terminal shows; lines are cut at its edges. A terminal that takes nothing
// any more is gone, which the reader of keys notices.
func (s *screen) show(lines []string) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = 80, 24 // a terminal that does not say
	}
	var picture strings.Builder
	picture.WriteString(toTop)
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			picture.WriteString("\r\n") // in raw mode the terminal adds no carriage return
		}
		if runes := []rune(line); len(runes) > width {
			line = string(runes[:width])
		}
		picture.WriteString(line + clearLine)
	}
	picture.WriteString(clearBelow)
	if picture.String() != s.shown {
		s.shown = picture.String()
		_, _ = s.out.WriteString(s.shown)
	}
}

// readKeys sends what is typed until ctx ends or the terminal does, and then closes pressed.
func (s *screen) readKeys(ctx context.Context, pressed chan<- byte) {
	defer close(pressed)
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(s.in.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(keyPoll.Milliseconds()))
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		key := make([]byte, 1)
		if err != nil {
			return
		}
		if n, err := s.in.Read(key); err != nil || n == 0 {
			return
		}
		select {
		case pressed <- key[0]:
		case <-ctx.Done():
			return
		}
	}
}
