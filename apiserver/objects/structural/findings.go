package structural

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/limit"
)

// Bounds of the errors that are kept of one schema or object. No answer lists more (maxCauses in
// package status), and an object of 1.5 MiB can have a million.
const (
	maxErrors     = 999       // with omitted, as many as an answer lists
	maxErrorBytes = 256 << 10 // of all fields and texts together; the first error is always kept
)

// omitted is the error that stands for those that are not kept.
var omitted = field.Invalid(nil, field.OmitValueType{}, "further errors are not listed").WithOrigin(limit.Causes.Origin())

// findings collects errors within the bounds.
type findings struct {
	errs  field.ErrorList
	bytes int
	more  bool // there were errors that are not kept
}

// room reports whether another error is kept. If not, it records that there is one.
func (f *findings) room() bool {
	if len(f.errs) < maxErrors && f.bytes < maxErrorBytes {
		return true
	}
	f.more = true
	return false
}

func (f *findings) add(errs ...*field.Error) {
	for _, err := range errs {
		if !f.room() {
			return
		}
		f.errs = append(f.errs, err)
		f.bytes += len(err.Field) + len(err.Detail)
	}
}

// list returns the errors, the last of which says whether there were more.
func (f *findings) list() field.ErrorList {
	if f.more {
		return append(f.errs[:len(f.errs):len(f.errs)], omitted)
	}
	return f.errs
}

func (f *findings) forbid(path *field.Path, why string) {
	if f.room() {
		f.add(field.Forbidden(path, why))
	}
}

func (f *findings) require(path *field.Path, why string) {
	if f.room() {
		f.add(field.Required(path, why))
	}
}

func (f *findings) invalid(path *field.Path, have any, why string) {
	if f.room() {
		f.add(field.Invalid(path, have, why))
	}
}

func (f *findings) unsupported(path *field.Path, have string, supported []string) {
	if f.room() {
		f.add(field.NotSupported(path, have, supported))
	}
}

func (f *findings) duplicate(path *field.Path, have any) {
	if f.room() {
		f.add(field.Duplicate(path, have))
	}
}
