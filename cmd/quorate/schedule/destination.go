package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"quorate/raftstore/backup"
)

// bucketScheme begins a destination that is a bucket.
const bucketScheme = "s3:"

// Destination is where backups are written: a directory, or a bucket of an S3-compatible store.
type Destination struct {
	// Directory is a path; empty for a bucket.
	Directory string
	// Endpoint is the scheme and host of the store, and Bucket and Prefix are where in it.
	Endpoint       *url.URL
	Bucket, Prefix string
}

// ParseDestination parses the path of a directory, or s3:https://HOST/BUCKET[/PREFIX]. The scheme
// http is for hosts on the loopback only, because backups have Secrets in clear text.
func ParseDestination(text string) (Destination, error) {
	location, ok := strings.CutPrefix(text, bucketScheme)
	if !ok {
		if strings.Contains(text, "://") {
			return Destination{}, errors.New("want a directory, or s3:https://HOST/BUCKET")
		}
		return Destination{Directory: text}, nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return Destination{}, fmt.Errorf("want s3:https://HOST/BUCKET: %w", errors.Unwrap(err))
	}
	bucket, key, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	switch {
	case u.User != nil:
		return Destination{}, errors.New("credentials don't belong into the address: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return Destination{}, errors.New("a backup has Secrets in clear text: want https")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", bucket == "", u.RawQuery != "", u.Fragment != "":
		return Destination{}, errors.New("want s3:https://HOST/BUCKET, optionally followed by /PREFIX")
	}
	return Destination{Endpoint: &url.URL{Scheme: u.Scheme, Host: u.Host}, Bucket: bucket, Prefix: key}, nil
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// destination holds the backups of one cluster.
type destination interface {
	// fileName returns the name of the backup of a scheduled time.
	fileName(scheduled time.Time) string
	// check returns an error for the operator if no backups can be written. It wraps fs.ErrNotExist
	// if the directory or bucket does not exist.
	check(ctx context.Context) error
	// existing verifies the backup of a scheduled time that a former leader may have left, and
	// returns its header and size. The error is fs.ErrNotExist without one, and *backup.Damaged if it
	// is not a backup of this cluster.
	existing(ctx context.Context, scheduled time.Time, pace *pacer) (backup.Header, int64, error)
	// create stores and verifies the backup that write writes. It gets its name after confirm has
	// returned nil, and replaces a damaged one of the name. create also removes what writers of this
	// cluster left that were killed; a former leader that still writes fails in the end.
	create(ctx context.Context, scheduled time.Time, pace *pacer, write func(io.Writer) error, confirm func() error) (backup.Header, int64, error)
	// prune removes backups of this cluster beyond the newest keep, and those that are older than
	// maxAge unless it is 0; but never the newest one.
	prune(ctx context.Context, keep int, maxAge time.Duration, now time.Time) error
}

// open returns the destination of the store's cluster, which must be known.
func (s *Scheduler) open() destination {
	n := names{cluster: s.cfg.Store.ClusterID()}
	if s.bucket != nil {
		b := *s.bucket
		b.names = n
		return &b
	}
	return directory{names: n, path: s.cfg.Destination.Directory, needed: s.cfg.Needed}
}
