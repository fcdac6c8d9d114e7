package parameter

import "slices"

// Type is the type of a parameter's value.
type Type uint8

// The types of parameters.
const (
	Text     Type = iota // any text, or one of the declared values
	Boolean              // as strconv.ParseBool parses it; true if the value is empty
	Integer              // a decimal integer
	Count                // a non-negative decimal integer
	Duration             // a non-negative duration as time.ParseDuration parses it
)

// Verbs is a set of verbs.
type Verbs uint16

// The verbs of requests.
const (
	Get Verbs = 1 << iota
	List
	Watch
	Create
	Update
	Patch
	Delete
	DeleteCollection
	// Document stands for all requests that are not about objects: discovery, OpenAPI, health, and
	// operations on the cluster.
	Document

	// ListOrWatch stands for the list of a kind that can be watched at the same path.
	ListOrWatch

	objects = Get | List | Watch | Create | Update | Patch | Delete | DeleteCollection
	// Any is every verb.
	Any = objects | Document | ListOrWatch
)

// Declaration declares a parameter.
type Declaration struct {
	Name string
	Type Type
	// Values are the valid values, in the order of the documentation; nil if any text is valid.
	Values []string
	// Supported are the values that an error lists, if they differ from Values.
	Supported []string
	// Read are the verbs that read the parameter. All other verbs ignore it.
	Read Verbs
	// Documented are the verbs whose OpenAPI operations document the parameter.
	Documented Verbs
	// PerKind means that only kinds whose file lists the parameter in operations.readParams have
	// it.
	PerKind bool
	// Description is the description in OpenAPI.
	Description string
}

// Takes reports whether a value is valid.
func (d *Declaration) Takes(text string) bool {
	return d.Values == nil || slices.Contains(d.Values, text)
}

// Refusal returns the values that the error for an invalid value lists.
func (d *Declaration) Refusal() []string {
	if d.Supported != nil {
		return d.Supported
	}
	return d.Values
}

// declared is the table by name. It is read-only.
var declared = compile()

func compile() map[string]*Declaration {
	byName := map[string]*Declaration{}
	for _, d := range table() {
		byName[d.Name] = &d
	}
	return byName
}

// Find returns the declaration of a parameter, or nil. The caller must not modify it.
func Find(name string) *Declaration { return declared[name] }

// All returns all declarations, sorted by name.
func All() []Declaration { return table() }

// Documented returns the names of the parameters that OpenAPI documents for at least one of the
// verbs, in sorted order. include decides about the parameters that only some kinds have.
func Documented(verbs Verbs, include func(perKind string) bool) []string {
	var names []string
	for _, d := range table() {
		if d.Documented&verbs != 0 && (!d.PerKind || include(d.Name)) {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return names
}
