package logbridge

import (
	"context"
	"io"
	"log/slog"
	"strings"
)

// Writer returns a writer for a standard logger without flags, each write of which is one line. If
// the first word in brackets is a level, such as "[WARN]", the line has that level and loses the
// text up to it; otherwise the level is info. If quiet is set, info lines become debug lines.
func Writer(logger *slog.Logger, quiet bool) io.Writer { return writer{logger, quiet} }

type writer struct {
	logger *slog.Logger
	quiet  bool
}

func (w writer) Write(line []byte) (int, error) {
	level, msg := slog.LevelInfo, strings.TrimSpace(string(line))
	if start := strings.IndexByte(msg, '['); start >= 0 {
		if name, rest, ok := strings.Cut(msg[start+1:], "]"); ok {
			if l, known := levelOf(name); known {
				level, msg = l, strings.TrimSpace(rest)
			}
		}
	}
	if w.quiet && level == slog.LevelInfo {
		level = slog.LevelDebug
	}
	w.logger.Log(context.Background(), level, msg)
	return len(line), nil
}

func levelOf(name string) (slog.Level, bool) {
	switch name {
	case "TRACE":
		return levelTrace, true
	case "DEBUG":
		return slog.LevelDebug, true
	case "INFO":
		return slog.LevelInfo, true
	case "WARN":
		return slog.LevelWarn, true
	case "ERR", "ERROR":
		return slog.LevelError, true
	default:
		return 0, false
	}
}
