// Package s3test tests scheduled backups against an S3-compatible store: versitygw, a server that
// keeps its objects as files. It is a module of its own, so that the store is no dependency of what
// ships.
package s3test
