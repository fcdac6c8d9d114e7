package schema

// Form is the shape of a value.
type Form uint8

const (
	FormMessage Form = iota
	FormList
	FormMap // keys are strings, kept sorted
	FormString
	FormBool
	FormInt32
	FormInt64
	FormUint32
	FormDouble
	FormBytes
	FormTime      // RFC 3339, whole seconds
	FormMicroTime // RFC 3339, microseconds
	FormQuantity  // canonical text
	FormIntOrString
	FormRaw // any JSON value, kept as compact JSON text
)

// Type is a compiled field type. Types of one catalog are shared and never change.
type Type struct {
	Form    Form
	elem    *Type    // of lists and maps
	message *Message // of messages

	roundUp bool // quantities in maps are rounded up to milli units
}

// Elem returns the type of a list's items or a map's values.
func (t *Type) Elem() *Type { return t.elem }

// Message returns the message that a message type is made of; nil for other forms.
func (t *Type) Message() *Message { return t.message }

// Message is a compiled message: its fields as one kind's contexts select them.
type Message struct {
	Name   string
	Spec   *MessageSpec
	typ    *Type
	fields []*Field // in the order in which they are written
	byName map[string]*Field

	open       *Type // of members that are no fields, which are kept as they came; nil when such are dropped
	validators []Validator
	defaulter  Defaulter
	zero       []byte // JSON of the message with nothing set
	wire       *wireMessage
	wireTop    *wireMessage // of a message that lies in none

	defaults   bool // it, or something below it, has defaults
	checks     bool // it, or something below it, has checks
	immutables bool // it, or something below it outside of lists, has fields that may not change
}

// Fields returns the fields in the order in which they are written. The slice is shared.
func (m *Message) Fields() []*Field { return m.fields }

// Field returns the field of that JSON name; nil when there is none in this context.
func (m *Message) Field(name string) *Field { return m.byName[name] }

// Type returns the type whose values are such messages.
func (m *Message) Type() *Type { return m.typ }

// Field is a compiled field of a message.
type Field struct {
	Name string
	Spec *FieldSpec
	Type *Type

	index   int      // its slot in the message's values
	below   *Message // the message in it, or in its items; nil when there is none
	keyJSON string   // `"name":`

	def       *Value
	defaultIf Condition
	defaulter Defaulter
	check     *fieldChecks // nil when there is nothing to check here
	compare   Comparison

	pointer    bool
	always     bool // written also when empty
	required   bool
	immutable  bool
	requiredIf Condition
}
