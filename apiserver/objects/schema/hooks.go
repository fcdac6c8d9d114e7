package schema

// Operation says which endpoint a hook runs for.
type Operation uint8

const (
	Create       Operation = iota // POST, and PUT of a missing object of a kind with create-on-update
	Update                        // PUT and PATCH of the main resource
	UpdateStatus                  // PUT and PATCH of /status
	Finalize                      // PUT of /finalize
)

// Hooks are the Go functions that kind and type files name. What a file names must be here, or Load
// fails.
//
// Keys in the files that name them:
//
//	on a field    validate: [name, ...]         Validator    runs on create and update when the field is not empty
//	              requiredIf: name              Condition    requiredWhen in Go: when true, an empty field is refused
//	              defaulter: name               Defaulter    defaultRule in Go: runs when the field is unset (or empty, without pointer)
//	              defaultIf: name               Condition    defaultWhen in Go: guards `default` and `defaulter` of the field
//	              immutableCheck: name          Comparison   immutableRule in Go: runs on updates, also when one side is unset
//	on a message  validate: [name, ...]         Validator    runs before its fields are checked, also when the message is empty
//	              defaulter: name               Defaulter    runs before the defaults of the message's fields
//	on a kind     hooks:
//	                afterDecode: [name, ...]            Step  first of all, on what a client sent
//	                prepareForCreate: [name, ...]       Step  before defaults: reset what clients may not set
//	                prepareForUpdate: [name, ...]       Step  the same for the main resource: keep status and so on from Context.Old
//	                prepareForStatusUpdate: [name, ...] Step  the same for /status
//	                prepareForFinalize: [name, ...]     Step  the same for /finalize
//	                validate: [name, ...]               Validator, with the object's root, on every operation
//	                validateUpdate: [name, ...]         Comparison, with both roots, on every operation but Create
//	                canonicalize: [name, ...]           Step  last, on a valid object
//	                toStorage: name                     Converter  from this kind to the kind it is stored as (key `storage`)
//	                fromStorage: name                   Converter  and back
//
// Order for a request: decode, afterDecode, prepareFor…, defaults, generation, validation,
// canonicalize, encode. Defaults run parents first: message defaulter, the fields' defaults in
// declared order, then each field's own message or items. A message field that is no pointer gets
// the defaults of its fields also when the client left it out. Fields of messages inside lists are
// not compared with their old value by `immutable` and immutableCheck (nothing pairs the items); do
// that in a Comparison on the list or in validateUpdate.
type Hooks struct {
	Validators  map[string]Validator
	Conditions  map[string]Condition
	Defaulters  map[string]Defaulter
	Comparisons map[string]Comparison
	Steps       map[string]Step
	Converters  map[string]Converter
}

// Validator checks v, which is never nil, and reports to c; c stands at v.
type Validator func(c *Context, v *Value)

// Condition decides about a field of message m from the other fields of m; c stands at m.
type Condition func(c *Context, m *Value) bool

// Defaulter sets fields of message m; c stands at m. It must do nothing when it runs again on its
// own result.
type Defaulter func(c *Context, m *Value)

// Comparison checks a field (or root) against its stored value; either may be nil when unset, not
// both. c stands at it.
type Comparison func(c *Context, v, old *Value)

// Step changes c.Object as a whole.
type Step func(c *Context)

// Converter fills the new object `to` of another kind from `from`. Metadata has been moved already.
type Converter func(from, to *Object)
