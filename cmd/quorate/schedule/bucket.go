package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"quorate/raftstore/backup"
)

const (
	// partBytes is the memory that an upload takes. A store accepts 10,000 parts, so a backup may have
	// 160 GB.
	partBytes = 16 << 20
	// bucketRetries is how often a request is sent before the attempt at the backup fails. The
	// Scheduler repeats that.
	bucketRetries = 3
	// bucketPatience bounds a single write to or read from a connection to the store.
	bucketPatience = time.Minute
)

// errUnreachable reports that the S3-compatible store did not answer.
var errUnreachable = errors.New("the store of the backups cannot be reached")

// bucket is a destination in an S3-compatible store. Other objects in it are left alone.
type bucket struct {
	names
	client       *minio.Client
	transport    *http.Transport
	name, prefix string
}

// newBucket returns the bucket of to, for a cluster that is not known yet. The credentials are those
// of the environment, or of the file that it names.
func newBucket(to Destination) (*bucket, error) {
	secure := to.Endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("--backup-dir: %w", err)
	}
	transport.DialContext = dialImpatiently
	client, err := minio.New(to.Endpoint.Host, &minio.Options{
		Creds:  credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}),
		Secure: secure, Transport: transport, MaxRetries: bucketRetries,
	})
	if err != nil {
		return nil, fmt.Errorf("--backup-dir: %w", err)
	}
	return &bucket{client: client, transport: transport, name: to.Bucket, prefix: to.Prefix}, nil
}

func (b *bucket) key(name string) string { return path.Join(b.prefix, name) }

// check implements destination.
func (b *bucket) check(ctx context.Context) error {
	exists, err := b.client.BucketExists(ctx, b.name)
	switch {
	case err != nil:
		return fmt.Errorf("--backup-dir: bucket %s: %w", b.name, storeError(err))
	case !exists:
		return fmt.Errorf("--backup-dir: bucket %s does not exist: create it: %w", b.name, fs.ErrNotExist)
	}
	return nil
}

// existing implements destination.
func (b *bucket) existing(ctx context.Context, scheduled time.Time, pace *pacer) (backup.Header, int64, error) {
	object, err := b.client.GetObject(ctx, b.name, b.key(b.fileName(scheduled)), minio.GetObjectOptions{})
	if err != nil {
		return backup.Header{}, 0, storeError(err)
	}
	defer object.Close()
	info, err := object.Stat()
	if err != nil {
		return backup.Header{}, 0, storeError(err)
	}
	h, err := backup.Verify(&pacedReader{ctx, object, pace})
	if err == nil && h.ClusterID != b.cluster {
		err = &backup.Damaged{Reason: "is of another cluster"}
	}
	return h, info.Size, storeError(err)
}

// create implements destination. The object appears once its upload is complete, and is read back
// afterwards: it is verified before it is recorded. If it is damaged, it is removed.
func (b *bucket) create(ctx context.Context, scheduled time.Time, pace *pacer, write func(io.Writer) error, confirm func() error) (backup.Header, int64, error) {
	if err := b.removeUnfinished(ctx); err != nil {
		return backup.Header{}, 0, err
	}
	key := b.key(b.fileName(scheduled))
	if err := b.upload(ctx, key, pace, write, confirm); err != nil {
		return backup.Header{}, 0, err
	}
	h, size, err := b.existing(ctx, scheduled, pace)
	if _, damaged := errors.AsType[*backup.Damaged](err); damaged {
		err = errors.Join(err, storeError(b.client.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{})))
	}
	return h, size, err
}

// upload stores what write writes under a key, unless confirm returns an error at its end.
func (b *bucket) upload(ctx context.Context, key string, pace *pacer, write func(io.Writer) error, confirm func() error) error {
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(to)
		if err == nil {
			err = confirm()
		}
		to.CloseWithError(err) // without an error the upload reads EOF, and is completed
		written <- err
	}()
	_, err := b.client.PutObject(ctx, b.name, key, &pacedReader{ctx, from, pace}, -1, minio.PutObjectOptions{
		ContentType: "application/octet-stream", PartSize: partBytes,
	})
	from.CloseWithError(err)
	if failed := <-written; failed != nil { // for its own reason, or with err
		return storeError(failed)
	}
	return storeError(err)
}

// removeUnfinished ends uploads of this cluster that were cut off.
func (b *bucket) removeUnfinished(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing after an error
	for upload := range b.client.ListIncompleteUploads(ctx, b.name, b.key(b.start()), true) {
		if upload.Err != nil {
			return storeError(upload.Err)
		}
		if _, ours := b.scheduled(path.Base(upload.Key)); !ours {
			continue
		}
		if err := b.client.RemoveIncompleteUpload(ctx, b.name, upload.Key); err != nil {
			return storeError(err)
		}
	}
	return nil
}

// prune implements destination.
func (b *bucket) prune(ctx context.Context, keep int, maxAge time.Duration, now time.Time) error {
	var all []string
	for object := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.key(b.start())}) {
		if object.Err != nil {
			return storeError(object.Err)
		}
		all = append(all, path.Base(object.Key))
	}
	for _, name := range b.expired(all, keep, maxAge, now) {
		if err := b.client.RemoveObject(ctx, b.name, b.key(name), minio.RemoveObjectOptions{}); err != nil {
			return storeError(err)
		}
	}
	return nil
}

// storeError returns an error of the store with the error of a file system that has the same reason.
func storeError(err error) error {
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	_, noRequest := errors.AsType[*url.Error](err)
	_, noBody := errors.AsType[*net.OpError](err)
	switch {
	case err == nil:
		return nil
	case answered && answer.Code == minio.NoSuchUpload: // another leader has ended it
		return fmt.Errorf("%w: %w", errSuperseded, err)
	case answered && answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case answered && (answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized):
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case answered && (answer.StatusCode == http.StatusInsufficientStorage || strings.Contains(answer.Code, "Quota")):
		return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	case (noRequest || noBody) && !errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	return err
}

// dialImpatiently connects to the store.
func dialImpatiently(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: bucketPatience / 2}
	c, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return impatient{c}, nil
}

// impatient is a connection whose reads and writes end after bucketPatience, so that a store that
// hangs can't hang a backup.
type impatient struct{ net.Conn }

// Read implements net.Conn.
func (c impatient) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(bucketPatience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write implements net.Conn.
func (c impatient) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(bucketPatience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}
