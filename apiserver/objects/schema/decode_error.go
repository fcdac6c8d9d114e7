package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"quorate/apiserver/limit"
)

// DecodeError reports a body that is malformed or that has a field of the wrong type or format. Its
// text is the complete message for the client, with status 400.
type DecodeError struct {
	Message string
	Path    string     // of the invalid field; "" when the body is malformed
	Offset  int        // in the JSON text; -1 when no position applies
	Limit   limit.Name // the bound that was reached; "" for other reasons
}

func (e *DecodeError) Error() string { return e.Message }

// ReachedLimit implements limit.Marked.
func (e *DecodeError) ReachedLimit() limit.Name { return e.Limit }

// syntaxError reports malformed JSON.
type syntaxError struct {
	text   string
	offset int
}

func (e *syntaxError) Error() string { return e.text + " at offset " + strconv.Itoa(e.offset) }

// valueError reports a well-formed value that is not valid for its field.
type valueError struct {
	text   string
	path   string
	offset int
}

func (e *valueError) Error() string { return e.text }

// describe converts a decoder's error to a *DecodeError with the text that clients expect (A35,
// A38-A40).
func (k *Kind) describe(err error) error {
	if e, ok := errors.AsType[*syntaxError](err); ok {
		return &DecodeError{
			Message: fmt.Sprintf("the object provided is unrecognized (must be of type %s): couldn't get version/kind; json parse error: %s", k.Kind, e),
			Offset:  e.offset, Limit: limit.Of(err),
		}
	}
	if e, ok := errors.AsType[*valueError](err); ok {
		message := k.cannotHandle(k.Kind, k.APIVersion) + e.text
		return &DecodeError{Message: message, Path: e.path, Offset: e.offset, Limit: limit.Of(err)}
	}
	return err
}

// describe converts a decoder's error to a *DecodeError.
func (m *Message) describe(err error) error {
	if e, ok := errors.AsType[*syntaxError](err); ok {
		return &DecodeError{Message: "couldn't read " + m.Name + ": json parse error: " + e.Error(), Offset: e.offset, Limit: limit.Of(err)}
	}
	if e, ok := errors.AsType[*valueError](err); ok {
		return &DecodeError{Message: "couldn't read " + m.Name + ": " + e.text, Path: e.path, Offset: e.offset, Limit: limit.Of(err)}
	}
	return err
}

// cannotHandle returns the beginning of messages about a body that is not an object of this kind.
func (k *Kind) cannotHandle(kind, apiVersion string) string {
	return fmt.Sprintf("%s in version %q cannot be handled as a %s: ", kind, apiVersion[strings.LastIndexByte(apiVersion, '/')+1:], k.Kind)
}

const (
	maxProblems     = 100 // reported for one body
	maxProblemBytes = 512 // of one problem's text
)

// Problems lists the fields of a body that the decoder dropped: unknown fields, and all but the
// last of duplicate fields. It holds the first 100 and counts the rest.
type Problems struct {
	list []string
	more int
}

// List returns a text for each problem, such as `unknown field "spec.foo"` or `duplicate field
// "data.k"`.
func (p Problems) List() []string {
	if p.more == 0 {
		return p.list
	}
	return append(p.list[:len(p.list):len(p.list)], fmt.Sprintf("%d more unknown or duplicate fields", p.more))
}

func (p *Problems) add(what, path string) {
	if len(path) > maxProblemBytes {
		path = strings.ToValidUTF8(path[:maxProblemBytes], "") + "..."
	}
	p.addText(what + " " + strconv.Quote(path))
}

func (p *Problems) addText(text string) {
	if len(p.list) >= maxProblems {
		p.more++
		return
	}
	p.list = append(p.list, text)
}

// StrictError returns the error that rejects a body with problems when the client asked for strict
// field validation (A49). It returns nil if there are no problems.
func (k *Kind) StrictError(p Problems) error {
	return p.strict(k.cannotHandle(k.Kind, k.APIVersion))
}

// StrictError does the same for a body that is not an object of a kind, such as DeleteOptions.
func (m *Message) StrictError(p Problems) error {
	return p.strict("couldn't read " + m.Name + ": ")
}

func (p Problems) strict(what string) error {
	if len(p.list) == 0 {
		return nil
	}
	return &DecodeError{Message: what + "strict decoding error: " + strings.Join(p.List(), ", "), Offset: -1}
}
