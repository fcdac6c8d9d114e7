package schema

// Form is the JSON or Go form of a value.
type Form uint8

const (
	FormMessage Form = iota
	FormList
	FormMap // keys are strings, in sorted order
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
	FormRaw // any JSON value, stored as compact JSON text
)

// Type is a compiled field type. The fields of one catalog share types. It is immutable.
type Type struct {
	Form    Form
	elem    *Type    // of lists and maps
	message *Message // of messages

	tree    *Type // message of a rawExtension in protobuf, whose form is that of its JSON; nil if there is none
	roundUp bool  // quantities in maps are rounded up to milli units
}

// Elem returns the type of a list's items or a map's values.
func (t *Type) Elem() *Type { return t.elem }

// Message returns the message of a type of form FormMessage, or nil.
func (t *Type) Message() *Message { return t.message }

// InProtobuf returns the type that values of the type have in protobuf: a message if they are JSON
// texts that protobuf has as a message (protoMessage), otherwise the type itself.
func (t *Type) InProtobuf() *Type {
	if t.tree != nil {
		return t.tree
	}
	return t
}

// Message is a compiled message. It has the fields that the contexts of its kind select.
type Message struct {
	Name   string
	Spec   *MessageSpec
	typ    *Type
	fields []*Field // in encoding order
	byName map[string]*Field

	open       *Type // type of members that are not fields, which are kept unchanged; nil if they are dropped
	validators []Validator
	defaulter  Defaulter
	zero       []byte // JSON of the message with no field set
	wire       *wireMessage
	wireTop    *wireMessage // layout as a top-level message, in an envelope

	defaults   bool // the message or one below it has defaults
	checks     bool // the message or one below it has checks
	immutables bool // the message or one below it, except in lists, has immutable fields
}

// Fields returns the fields in encoding order. The caller must not modify the slice.
func (m *Message) Fields() []*Field { return m.fields }

// Field returns the field with a JSON name, or nil if the message does not have it in this context.
func (m *Message) Field(name string) *Field { return m.byName[name] }

// Type returns the type of such messages.
func (m *Message) Type() *Type { return m.typ }

// Field is a compiled field of a message.
type Field struct {
	Name string
	Spec *FieldSpec
	Type *Type

	index   int      // slot among the message's values
	below   *Message // message of the field, its items or its values; nil if there is none
	keyJSON string   // `"name":`

	def       *Value
	defaultIf Condition
	defaulter Defaulter
	check     *fieldChecks // nil if the field has no checks
	compare   Comparison

	pointer    bool
	always     bool // encoded even if empty
	required   bool
	immutable  bool
	requiredIf Condition
}

// KeyDefault returns the text, number or boolean that a field which identifies the items of a list
// has if it is unset: its default, or the zero value.
func (f *Field) KeyDefault() any {
	v := f.def
	if v == nil {
		v = f.Type.New()
	}
	out, err := v.content()
	if err != nil { // cannot happen: only rawExtension has errors
		return nil
	}
	return out
}
