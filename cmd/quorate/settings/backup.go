package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"quorate/cmd/quorate/schedule"
)

const (
	// maxBackups keeps the list of backups short.
	maxBackups = 100_000
	// minBackupRate lets a backup of a small cluster end within a minute.
	minBackupRate = 64 << 10
)

func (s *Settings) checkBackup() error {
	b := &s.Backup
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if b.Schedule != "" {
		_, err := schedule.Parse(b.Schedule)
		refuse(err != nil, "--backup-schedule %q: want a cron expression of five fields such as \"0 3 * * *\", @daily or \"@every 6h\": %w", b.Schedule, err)
	}
	refuse(b.Schedule != "" && b.Dir == "", "--backup-schedule needs --backup-dir, where the backups are written")
	refuse(b.Schedule == "" && b.Dir != "", "--backup-dir needs --backup-schedule, the times of the backups")
	to, err := schedule.ParseDestination(b.Dir)
	refuse(err != nil, "--backup-dir %q: %w", b.Dir, err)
	refuse(to.Directory != "" && within(b.Dir, s.DataDir),
		"--backup-dir %s is in --data-dir %s: choose another, so that a backup survives the loss of the data", b.Dir, s.DataDir)
	refuse(b.Keep < 1 || b.Keep > maxBackups, "--backup-keep %d: want 1 to %d", b.Keep, maxBackups)
	refuse(b.KeepAge != 0 && b.KeepAge < time.Minute, "--backup-keep-age %s: want 0 (no bound) or at least 1m", b.KeepAge)
	refuse(b.Rate != 0 && b.Rate < minBackupRate, "--backup-rate %d: want 0 (no bound) or at least 64KiB", b.Rate)
	return errors.Join(errs...)
}

// within reports whether a path is that of a directory, or of something in it.
func within(path, dir string) bool {
	p, err := filepath.Abs(path)
	d, err2 := filepath.Abs(dir)
	if err != nil || err2 != nil {
		return false
	}
	return p == d || strings.HasPrefix(p, d+string(filepath.Separator))
}
