package settings

import (
	"errors"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// namePattern matches node names: DNS labels, since the name is also a Raft server id, part of a
// certificate's URI, and a gossip name.
var namePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$`)

// reportedPattern matches versions of the API as package apiserver takes them.
var reportedPattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,3})(\.(0|[1-9][0-9]{0,3})){2}$`)

const (
	maxExpect = 99
	// maxEventTTL is well within the time that the state remembers (state.Times).
	maxEventTTL = 12 * time.Hour
	// minSnapshotRate lets a follower get the next part of a snapshot within the time that it waits,
	// even if it shares the rate with twenty others.
	minSnapshotRate = 64 << 10
	// maxRotated keeps the list of rotated files short.
	maxRotated = 1000
)

// Validate returns one line with all invalid settings.
func (s *Settings) Validate() error {
	return oneLine(s.checkIdentity(), s.checkListen(), s.checkAPI(), s.checkBackup(), s.checkRanges())
}

// oneLine joins errors into one line; errors.Join would print several.
func oneLine(errs ...error) error {
	var lines []string
	for _, err := range errs {
		if err != nil {
			lines = append(lines, strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return errors.New(strings.Join(lines, "; "))
}

// CheckName returns an error if name can't be the name of a node.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("--name %q: want lower-case letters, digits, '-' and '.', at most 63", name)
	}
	return nil
}

func (s *Settings) checkIdentity() error {
	if err := CheckName(s.Name); err != nil {
		return err
	}
	if s.DataDir == "" {
		return errors.New("--data-dir is empty: name a directory")
	}
	return nil
}

func (s *Settings) checkListen() error {
	errs := []error{
		checkAddress("--api-addr", s.Listen.API, false),
		checkAddress("--peer-addr", s.Listen.Peer, false),
		checkAddress("--gossip-addr", s.Listen.Gossip, false),
	}
	for _, address := range s.Join {
		errs = append(errs, checkAddress("--join", address, true))
	}
	if strings.ContainsAny(s.Listen.AdvertiseHost, "/ ") || isHostPort(s.Listen.AdvertiseHost) {
		errs = append(errs, fmt.Errorf("--advertise-host %q: want a host name or an IP address, without a port", s.Listen.AdvertiseHost))
	}
	return errors.Join(errs...)
}

func isHostPort(text string) bool {
	_, _, err := net.SplitHostPort(text)
	return err == nil
}

// checkAddress returns an error unless address is HOST:PORT. Only an address to bind may have no
// host or port 0.
func checkAddress(flag, address string, dial bool) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%s %q: want HOST:PORT", flag, address)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return fmt.Errorf("%s %q: %q is not a port", flag, address, port)
	}
	if dial && (host == "" || number == 0) {
		return fmt.Errorf("%s %q: want HOST:PORT of another node", flag, address)
	}
	return nil
}

func (s *Settings) checkAPI() error {
	var errs []error
	if (s.API.CertFile == "") != (s.API.KeyFile == "") {
		errs = append(errs, errors.New("--tls-cert-file and --tls-key-file go together: give both or neither"))
	}
	if !reportedPattern.MatchString(s.API.ReportedVersion) {
		errs = append(errs, fmt.Errorf("--reported-version %q: want MAJOR.MINOR.PATCH, such as 1.30.0", s.API.ReportedVersion))
	}
	switch {
	case s.Audit.Webhook != "" && s.Audit.Policy == "":
		errs = append(errs, errors.New("--audit-webhook-config-file needs --audit-policy-file, which says what is recorded"))
	case s.Audit.Policy != "" && s.Audit.Webhook == "" && s.Audit.Log == "":
		errs = append(errs, errors.New("--audit-policy-file needs a destination: give --audit-log, --audit-webhook-config-file or both"))
	}
	errs = append(errs,
		checkOneOf("--request-log", s.API.RequestLog, "none", "errors", "writes", "all"),
		checkOneOf("--log-format", s.Log.Format, "text", "json"),
		checkOneOf("--log-level", s.Log.Level, "debug", "info", "warn", "error"))
	return errors.Join(errs...)
}

func checkOneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s %q: want one of %s", flag, value, strings.Join(allowed, ", "))
}

func (s *Settings) checkRanges() error {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(s.Expect < 1 || s.Expect > maxExpect, "--bootstrap-expect %d: want 1 to %d", s.Expect, maxExpect)
	refuse(math.IsNaN(s.TimeoutScale) || s.TimeoutScale < 0.1 || s.TimeoutScale > 20,
		"--timeout-scale %v: want 0.1 to 20", s.TimeoutScale)
	refuse(s.DeadServerAfter != 0 && s.DeadServerAfter < time.Minute,
		"--dead-server-after %s: want 0 (never) or at least 1m", s.DeadServerAfter)
	refuse(s.API.MaxRequests < 1, "--max-requests %d: want at least 1", s.API.MaxRequests)
	for _, bound := range s.API.Limits.bounds() {
		refuse(bound.value < bound.least, "--%s %d: want at least %d", bound.flag, bound.value, bound.least)
	}
	refuse(s.API.EventTTL < time.Second || s.API.EventTTL > maxEventTTL, "--event-ttl %s: want 1s to %s", s.API.EventTTL, maxEventTTL)
	refuse(s.Audit.MaxBytes < 1<<20, "--audit-log-max-size %d: want at least 1MiB", s.Audit.MaxBytes)
	refuse(s.Audit.MaxAge < time.Minute, "--audit-log-max-age %s: want at least 1m", s.Audit.MaxAge)
	refuse(s.Audit.MaxFiles < 0 || s.Audit.MaxFiles > maxRotated, "--audit-log-max-files %d: want 0 to %d", s.Audit.MaxFiles, maxRotated)
	refuse(s.Store.LogBytes < 16<<20, "--log-bytes %d: want at least 16MiB", s.Store.LogBytes)
	refuse(s.Store.LogAge < time.Minute, "--log-age %s: want at least 1m", s.Store.LogAge)
	refuse(s.Store.DiskReserve < 1<<20, "--disk-reserve %d: want at least 1MiB", s.Store.DiskReserve)
	refuse(s.Store.SnapshotRate != 0 && s.Store.SnapshotRate < minSnapshotRate,
		"--snapshot-rate %d: want 0 (no bound) or at least 64KiB", s.Store.SnapshotRate)
	refuse(s.Store.MaxBytes != 0 && s.Store.MaxBytes < 1<<20, "--max-state-bytes %d: want 0 (none) or at least 1MiB", s.Store.MaxBytes)
	_, err := s.Store.Quotas()
	refuse(err != nil, "%w", err)
	refuse(s.Store.HistoryBytes < 1<<20, "--history-bytes %d: want at least 1MiB", s.Store.HistoryBytes)
	return errors.Join(errs...)
}

// limit is the value of a flag of Limits and the least that it may be.
type limit struct {
	flag         string
	value, least int
}

func (l *Limits) bounds() []limit {
	return []limit{
		{"max-connections", l.Connections, 1}, {"max-connections-per-address", l.ConnectionsPerAddress, 0},
		{"max-watches", l.Watches, 1}, {"max-watches-per-user", l.WatchesPerUser, 0},
		{"max-watches-per-address", l.WatchesPerAddress, 0}, {"max-requests-per-user", l.RequestsPerUser, 0},
		{"max-request-rate-per-user", l.RequestRate, 0}, {"max-auth-failure-rate", l.AuthFailureRate, 0},
	}
}
