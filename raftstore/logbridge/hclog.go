package logbridge

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"time"

	"github.com/hashicorp/go-hclog"
)

// levelTrace is hclog's trace level, for which slog has no name.
const levelTrace = slog.LevelDebug - 4

// Hclog returns an hclog.Logger that writes to logger. If quiet is set, info lines become debug
// lines. Of the warnings and errors with the same message about the same peer, it writes at most
// one in ten seconds, and adds to it the number of lines that it suppressed since the previous one.
func Hclog(logger *slog.Logger, quiet bool) hclog.Logger {
	return &bridge{logger: logger, quiet: quiet, limits: &limiter{}}
}

type bridge struct {
	logger  *slog.Logger
	quiet   bool
	name    string
	implied []any
	limits  *limiter
}

func (b *bridge) level(l hclog.Level) slog.Level {
	switch l {
	case hclog.Trace:
		return levelTrace
	case hclog.Debug:
		return slog.LevelDebug
	case hclog.Warn:
		return slog.LevelWarn
	case hclog.Error:
		return slog.LevelError
	default:
		if b.quiet {
			return slog.LevelDebug
		}
		return slog.LevelInfo
	}
}

func (b *bridge) Log(l hclog.Level, msg string, args ...any) {
	level := b.level(l)
	if !b.logger.Enabled(context.Background(), level) {
		return
	}
	args = rendered(args)
	if level >= slog.LevelWarn {
		held, ok := b.limits.allow(subject(msg, args), time.Now())
		if !ok {
			return
		}
		if held > 0 {
			args = append(args[:len(args):len(args)], "repeated", held)
		}
	}
	b.logger.Log(context.Background(), level, msg, args...)
}

// rendered formats the values that hclog would format itself.
func rendered(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case hclog.Format:
			if format, ok := first(v).(string); ok {
				args[i] = fmt.Sprintf(format, v[1:]...)
			}
		case fmt.Stringer:
			args[i] = v.String()
		}
	}
	return args
}

func first(f hclog.Format) any {
	if len(f) == 0 {
		return nil
	}
	return f[0]
}

func (b *bridge) Trace(msg string, args ...any) { b.Log(hclog.Trace, msg, args...) }
func (b *bridge) Debug(msg string, args ...any) { b.Log(hclog.Debug, msg, args...) }
func (b *bridge) Info(msg string, args ...any)  { b.Log(hclog.Info, msg, args...) }
func (b *bridge) Warn(msg string, args ...any)  { b.Log(hclog.Warn, msg, args...) }
func (b *bridge) Error(msg string, args ...any) { b.Log(hclog.Error, msg, args...) }

func (b *bridge) enabled(l hclog.Level) bool {
	return b.logger.Enabled(context.Background(), b.level(l))
}

func (b *bridge) IsTrace() bool { return b.enabled(hclog.Trace) }
func (b *bridge) IsDebug() bool { return b.enabled(hclog.Debug) }
func (b *bridge) IsInfo() bool  { return b.enabled(hclog.Info) }
func (b *bridge) IsWarn() bool  { return b.enabled(hclog.Warn) }
func (b *bridge) IsError() bool { return b.enabled(hclog.Error) }

func (b *bridge) ImpliedArgs() []any { return b.implied }

func (b *bridge) With(args ...any) hclog.Logger {
	args = rendered(args)
	return &bridge{
		logger: b.logger.With(args...), quiet: b.quiet, name: b.name, limits: b.limits,
		implied: append(b.implied[:len(b.implied):len(b.implied)], args...),
	}
}

func (b *bridge) Name() string { return b.name }

func (b *bridge) Named(name string) hclog.Logger {
	if b.name != "" {
		name = b.name + "." + name
	}
	return b.ResetNamed(name)
}

func (b *bridge) ResetNamed(name string) hclog.Logger {
	return &bridge{logger: b.logger, quiet: b.quiet, name: name, implied: b.implied, limits: b.limits}
}

// SetLevel does nothing: the level is that of logger's handler.
func (b *bridge) SetLevel(hclog.Level) {}

func (b *bridge) GetLevel() hclog.Level {
	for _, l := range []hclog.Level{hclog.Trace, hclog.Debug, hclog.Info, hclog.Warn} {
		if b.enabled(l) {
			return l
		}
	}
	return hclog.Error
}

func (b *bridge) StandardLogger(*hclog.StandardLoggerOptions) *log.Logger {
	return log.New(b.StandardWriter(nil), "", 0)
}

func (b *bridge) StandardWriter(*hclog.StandardLoggerOptions) io.Writer {
	return Writer(b.logger, b.quiet)
}
