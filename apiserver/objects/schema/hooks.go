package schema

// Operation is the kind of write that a hook runs for.
type Operation uint8

const (
	Create       Operation = iota // POST, and PUT of a missing object of a kind with create-on-update
	Update                        // PUT and PATCH of the main resource
	UpdateStatus                  // PUT and PATCH of /status
	Finalize                      // PUT of /finalize
)

// Hooks are the Go functions that kind and type files refer to by name. Load fails if a file names
// a function that is not here. Some keys implement a rule that another key of the file states in
// prose: requiredIf implements requiredWhen, defaulter defaultRule, defaultIf defaultWhen, and
// immutableCheck immutableRule.
//
// Keys of a field:
//
//	validate: [name, ...]   Validator: runs on every operation if the field is not empty (if it
//	                        is set, for a message or with pointer)
//	requiredIf: name        Condition: if true, the field must not be empty
//	defaulter: name         Defaulter: runs if the field is empty (unset, with pointer)
//	defaultIf: name         Condition: if false, the field gets no default
//	immutableCheck: name    Comparison: runs on every operation but create if either object has
//	                        the field
//
// Keys of a message:
//
//	validate: [name, ...]   Validator: runs before the message's fields are checked, even if it
//	                        is empty
//	defaulter: name         Defaulter: runs before the defaults of the message's fields
//
// Keys of a kind, below hooks:
//
//	afterDecode             Steps on what a client sent
//	prepareForCreate        Steps that reset what clients may not set
//	prepareForUpdate        Steps that keep the status etc. of Context.Old, for the main resource
//	prepareForStatusUpdate  Steps for /status
//	prepareForFinalize      Steps for /finalize
//	validate                Validators, called with the root, on every operation
//	validateUpdate          Comparisons, called with both roots, on every operation but create
//	canonicalize            Steps on a valid object
//	toStorage: name         Converter from this kind to the one it is stored as (key storage)
//	fromStorage: name       Converter from the kind it is stored as to this kind
//
// A request runs these in order: decode, afterDecode, the prepare steps of its operation, defaults,
// generation, validation, canonicalize, encode. Defaults are set from the root down: a message's
// defaulter runs first, then the defaults of its fields in declared order, then those of the
// messages in these fields. A message field without pointer gets the defaults of its fields even if
// the client left it out. immutable and immutableCheck do not apply inside lists and maps, because
// nothing pairs their old values with the new ones; use an immutableCheck on the list or
// validateUpdate instead.
type Hooks struct {
	Validators  map[string]Validator
	Conditions  map[string]Condition
	Defaulters  map[string]Defaulter
	Comparisons map[string]Comparison
	Steps       map[string]Step
	Converters  map[string]Converter
}

// Validator checks v, which is never nil, and reports errors to c, whose position is at v.
type Validator func(c *Context, v *Value)

// Condition decides about a field of message m from m's other fields. The position of c is at m.
type Condition func(c *Context, m *Value) bool

// Defaulter sets fields of message m. The position of c is at m. A Defaulter must be idempotent.
type Defaulter func(c *Context, m *Value)

// Comparison checks a field or root v against its stored value. One of the two may be nil, if it is
// unset. The position of c is at v.
type Comparison func(c *Context, v, old *Value)

// Step modifies c.Object.
type Step func(c *Context)

// Converter fills the new object to from the object from, which is of another kind. The caller has
// already moved the metadata.
type Converter func(from, to *Object)
