package node

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"quorate/cmd/quorate/settings"
)

// newLogger returns the logger of the process.
func newLogger(w io.Writer, s settings.Log) *slog.Logger {
	levels := map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}
	options := &slog.HandlerOptions{Level: levels[s.Level]}
	if s.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// newAudit returns the logger of requests and a function that closes it.
func newAudit(stdout io.Writer, logger *slog.Logger, target string) (*slog.Logger, func() error, error) {
	nothing := func() error { return nil }
	switch target {
	case "":
		return logger, nothing, nil
	case "-":
		return slog.New(slog.NewJSONHandler(stdout, nil)), nothing, nil
	}
	file, err := os.OpenFile(target, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("--audit-log: %w", err)
	}
	return slog.New(slog.NewJSONHandler(file, nil)), file.Close, nil
}
