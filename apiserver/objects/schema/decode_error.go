package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// DecodeError says why a body is not an object of the kind: malformed, or a value of a wrong type
// or format. Its text is the whole message for the client (400).
type DecodeError struct {
	Message string
	Path    string // of the field at fault; "" when the body is malformed
	Offset  int    // in the JSON text; -1 when it is not about a place
}

func (e *DecodeError) Error() string { return e.Message }

// syntaxError is malformed JSON.
type syntaxError struct {
	text   string
	offset int
}

func (e *syntaxError) Error() string { return e.text + " at offset " + strconv.Itoa(e.offset) }

// valueError is a well-formed value that its field does not take.
type valueError struct {
	text   string
	path   string
	offset int
}

func (e *valueError) Error() string { return e.text }

// describe turns what the decoder says into what the client reads (A35, A38-A40).
func (k *Kind) describe(err error) error {
	switch err := err.(type) { //nolint:errorlint // made below, never wrapped
	case *syntaxError:
		return &DecodeError{
			Message: fmt.Sprintf("the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %s", k.Kind, err),
			Offset:  err.offset,
		}
	case *valueError:
		return &DecodeError{Message: k.cannotHandle(k.Kind, k.APIVersion) + err.text, Path: err.path, Offset: err.offset}
	}
	return err
}

// describe turns what the decoder says into what the client reads.
func (m *Message) describe(err error) error {
	switch err := err.(type) { //nolint:errorlint // made by the decoder, never wrapped
	case *syntaxError:
		return &DecodeError{Message: "couldn't read " + m.Name + ": json parse error: " + err.Error(), Offset: err.offset}
	case *valueError:
		return &DecodeError{Message: "couldn't read " + m.Name + ": " + err.text, Path: err.path, Offset: err.offset}
	}
	return err
}

// cannotHandle begins messages about a body of some kind that is not one of ours.
func (k *Kind) cannotHandle(kind, apiVersion string) string {
	return fmt.Sprintf("%s in version %q cannot be handled as a %s: ", kind, apiVersion[strings.LastIndexByte(apiVersion, '/')+1:], k.Kind)
}

const (
	maxProblems     = 100 // kept of one body
	maxProblemBytes = 512 // of one problem's text
)

// Problems are the fields of a body that were dropped: unknown, or given twice (the last one
// counts). At most a hundred are kept.
type Problems struct {
	list []string
	more int
}

// List returns a text for each problem: `unknown field "spec.foo"`, `duplicate field "data.k"`.
func (p Problems) List() []string {
	if p.more == 0 {
		return p.list
	}
	return append(p.list[:len(p.list):len(p.list)], fmt.Sprintf("%d more unknown or duplicate fields", p.more))
}

func (p *Problems) add(what, path string) {
	if len(p.list) >= maxProblems {
		p.more++
		return
	}
	if len(path) > maxProblemBytes {
		path = strings.ToValidUTF8(path[:maxProblemBytes], "") + "..."
	}
	p.list = append(p.list, what+" "+strconv.Quote(path))
}

// StrictError returns the error that refuses a body for its problems (A49); nil when there are
// none.
func (k *Kind) StrictError(p Problems) error {
	if len(p.list) == 0 {
		return nil
	}
	return &DecodeError{
		Message: k.cannotHandle(k.Kind, k.APIVersion) + "strict decoding error: " + strings.Join(p.List(), ", "),
		Offset:  -1,
	}
}
