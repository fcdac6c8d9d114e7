package parameter

import "slices"

// Type says how the value of a parameter is read.
type Type uint8

// The types of parameters.
const (
	Text     Type = iota // any text, or one of the declared values
	Boolean              // strconv.ParseBool; true without a value
	Integer              // a decimal number
	Count                // a decimal number that is not negative
	Duration             // time.ParseDuration; not negative
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
	// Document is any request that is not about objects: discovery, OpenAPI, health, operations of
	// the cluster.
	Document

	// ListOrWatch is the list of a kind that can be watched at the same path.
	ListOrWatch

	objects = Get | List | Watch | Create | Update | Patch | Delete | DeleteCollection
	// Any is every verb.
	Any = objects | Document | ListOrWatch
)

// Declaration is what is known of a parameter.
type Declaration struct {
	Name string
	Type Type
	// Values are the texts that the parameter takes, in the order in which they are documented; nil
	// for any.
	Values []string
	// Supported are the values that a refusal lists, where they differ from Values.
	Supported []string
	// Read are the verbs that read the parameter. All others ignore it.
	Read Verbs
	// Documented are the verbs whose OpenAPI operations show the parameter.
	Documented Verbs
	// PerKind parameters are for objects of the kinds whose file lists them among
	// operations.readParams.
	PerKind bool
	// Description is for OpenAPI.
	Description string
}

// Takes reports whether a text is one of the declared values.
func (d *Declaration) Takes(text string) bool {
	return d.Values == nil || slices.Contains(d.Values, text)
}

// Refusal returns the values that the refusal of another value lists.
func (d *Declaration) Refusal() []string {
	if d.Supported != nil {
		return d.Supported
	}
	return d.Values
}

// declared is the compiled table, by name. Nobody changes it.
var declared = compile()

func compile() map[string]*Declaration {
	byName := map[string]*Declaration{}
	for _, d := range table() {
		byName[d.Name] = &d
	}
	return byName
}

// Find returns the declaration of a parameter; nil if there is none. It must not be changed.
func Find(name string) *Declaration { return declared[name] }

// All returns all declarations in the order of their names.
func All() []Declaration { return table() }

// Documented returns the names of the parameters that OpenAPI documents for any of the verbs,
// sorted. include decides about those that only some kinds have.
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
