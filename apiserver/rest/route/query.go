package route

import (
	"math"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/rest/parameter"
	"quorate/apiserver/wire/status"
)

// Query is the parsed query of a request. A verb may read only the parameters that package
// parameter declares for it. Reading another parameter of a query that is not empty panics, because
// it is a programming error; TestParameters in package apiserver detects such errors.
type Query struct {
	values parameters
	verb   parameter.Verbs
}

// declared returns the declaration of a parameter that this verb reads.
func (q Query) declared(name string) *parameter.Declaration {
	d := parameter.Find(name)
	if d == nil || d.Read&q.verb == 0 {
		panic("package parameter does not declare the parameter " + name + " for this verb")
	}
	return d
}

// first returns the first value of a parameter, which must have type t; ok is false if there is
// none.
func (q Query) first(name string, t parameter.Type) (text string, ok bool) {
	if len(q.values) == 0 {
		return "", false
	}
	if q.declared(name).Type != t {
		panic("package parameter declares the parameter " + name + " as another type")
	}
	return q.values.first(name)
}

// Has reports whether the query contains a parameter, even if its value is empty.
func (q Query) Has(name string) bool {
	_, ok := q.get(name)
	return ok
}

// Get returns the first value of a parameter of any type, or "" if there is none.
func (q Query) Get(name string) string {
	text, _ := q.get(name)
	return text
}

func (q Query) get(name string) (text string, ok bool) {
	if len(q.values) == 0 {
		return "", false
	}
	q.declared(name)
	return q.values.first(name)
}

// All returns all values of a parameter.
func (q Query) All(name string) []string {
	if len(q.values) == 0 {
		return nil
	}
	q.declared(name)
	return q.values.all(name)
}

// Bool parses a boolean parameter. An empty value is true; a missing parameter is false (A57).
func (q Query) Bool(name string) (bool, error) {
	text, ok := q.first(name, parameter.Boolean)
	if !ok {
		return false, nil
	}
	if text == "" {
		return true, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, status.NewBadRequest("invalid value for " + name + ": " + strconv.Quote(text) + " is not a boolean")
	}
	return b, nil
}

// Integer parses an integer parameter. ok is false if it is missing or empty.
func (q Query) Integer(name string) (n int64, ok bool, err error) {
	text, _ := q.first(name, parameter.Integer)
	if text == "" {
		return 0, false, nil
	}
	if n, err = strconv.ParseInt(text, 10, 64); err != nil {
		return 0, false, status.NewBadRequest("invalid value for " + name + ": " + strconv.Quote(text) + " is not an integer")
	}
	return n, true, nil
}

// Count parses a non-negative integer parameter. It returns 0 if it is missing or empty (C30, C43).
func (q Query) Count(name string) (int64, error) {
	text, _ := q.first(name, parameter.Count)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, status.NewBadRequest("invalid value for " + name + ": " + strconv.Quote(text) +
			" is not a non-negative integer")
	}
	return n, nil
}

// Choice returns the value of a parameter that must have one of its declared values, or "" if it is
// missing or empty. options is the kind named in the error, such as ListOptions.
func (q Query) Choice(name, options string) (string, error) {
	text := q.Get(name)
	if text == "" {
		return "", nil
	}
	return text, CheckChoice(name, text, options)
}

// CheckChoice returns an error if text is not one of a parameter's declared values.
func CheckChoice(name, text, options string) error {
	d := parameter.Find(name)
	if d.Takes(text) {
		return nil
	}
	return status.NewInvalidOption(options, field.NotSupported(field.NewPath(name), text, d.Refusal()))
}

// Timeout parses the parameter timeout (I24). It returns 0 if it is missing.
func (q Query) Timeout() (time.Duration, error) {
	text, _ := q.first("timeout", parameter.Duration)
	if text == "" {
		return 0, nil
	}
	asked, err := time.ParseDuration(text)
	if err != nil || asked < 0 {
		return 0, status.NewBadRequest("invalid timeout specified in the request URL: " + text + " is not a duration")
	}
	return asked, nil
}

// TimeoutSeconds parses the parameter timeoutSeconds (C42, C43, D28). It returns 0 if it is missing
// or if the verb does not have it.
func (q Query) TimeoutSeconds() (time.Duration, error) {
	if len(q.values) == 0 || parameter.Find("timeoutSeconds").Read&q.verb == 0 {
		return 0, nil
	}
	seconds, err := q.Count("timeoutSeconds")
	return time.Duration(min(seconds, math.MaxInt64/int64(time.Second))) * time.Second, err
}

// verbs returns the verb of a call as defined in package parameter, or all of them if the call has
// no endpoint.
func (c *Call) verbs() parameter.Verbs {
	e := c.Endpoint
	switch {
	case e == nil:
		return parameter.Any
	case e.Kind == nil:
		return parameter.Document
	}
	return verbs[e.Verb]
}

// verbs is read-only.
var verbs = map[string]parameter.Verbs{
	VerbGet: parameter.Get, VerbList: parameter.List, VerbWatch: parameter.Watch, VerbCreate: parameter.Create,
	VerbUpdate: parameter.Update, VerbPatch: parameter.Patch, VerbDelete: parameter.Delete,
	VerbDeleteCollection: parameter.DeleteCollection,
}
