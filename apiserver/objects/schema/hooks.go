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
// The keys that name functions:
//
//	on a field    validate: [name, ...]         Validator    runs on every operation if the field is not empty (with pointer: is set)
//	              requiredIf: name              Condition    if true, the field must not be empty
//	              defaulter: name               Defaulter    runs if the field is unset (or empty, without pointer)
//	              defaultIf: name               Condition    if false, the field gets no default
//	              immutableCheck: name          Comparison   runs on every operation but create, even if one side is unset
//	on a message  validate: [name, ...]         Validator    runs before the message's fields are checked, even if it is empty
//	              defaulter: name               Defaulter    runs before the defaults of the message's fields
//	on a kind     hooks:
//	                afterDecode: [name, ...]            Step  first, on what a client sent
//	                prepareForCreate: [name, ...]       Step  before defaults: resets what clients may not set
//	                prepareForUpdate: [name, ...]       Step  before defaults, for the main resource: keeps status etc. from Context.Old
//	                prepareForStatusUpdate: [name, ...] Step  before defaults, for /status
//	                prepareForFinalize: [name, ...]     Step  before defaults, for /finalize
//	                validate: [name, ...]               Validator, called with the root, on every operation
//	                validateUpdate: [name, ...]         Comparison, called with both roots, on every operation but Create
//	                canonicalize: [name, ...]           Step  last, on a valid object
//	                toStorage: name                     Converter  from this kind to the kind it is stored as (key `storage`)
//	                fromStorage: name                   Converter  from the kind it is stored as to this kind
//
// A request runs these in order: decode, afterDecode, prepareFor…, defaults, generation,
// validation, canonicalize, encode. Defaults are set from the root down: a message's defaulter runs
// first, then the defaults of its fields in declared order, then those inside each field's message
// items or values. A message field without `pointer` gets the defaults of its fields even if the
// client left it out. `immutable` and immutableCheck do not apply inside lists, because nothing
// pairs the items of the old list with those of the new one; compare these with a Comparison on the
// list or with validateUpdate.
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
