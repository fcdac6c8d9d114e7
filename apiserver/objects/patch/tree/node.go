package tree

// Form is the type of a JSON value.
type Form uint8

// The forms. None stands for a missing value.
const (
	None Form = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

var words = [...]string{"nothing", "null", "a boolean", "a number", "a string", "an array", "an object"}

// String returns the form with an article, such as "an array", for use in messages.
func (f Form) String() string { return words[f] }

// FormOf returns the form of the value with the given text.
func FormOf(text string) Form {
	switch c := at(text, 0); {
	case c == '{':
		return Object
	case c == '[':
		return Array
	case c == '"':
		return String
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	case c == '-' || c >= '0' && c <= '9':
		return Number
	}
	return None
}

// Node is a value of a patch. Objects are parsed recursively. Arrays remain text, because most of
// them are copied as a whole.
type Node struct {
	Text    string
	Members []Member // of an object; a duplicate name has its last value at the index of its first

	index map[string]int // index by name, for objects with more than fewMembers members
}

// Member is a member of an object.
type Member struct {
	Name  string
	Key   string // the name as in the text, with quotes
	Value Node
}

// Form returns the form of the value.
func (n *Node) Form() Form { return FormOf(n.Text) }

// fewMembers is the maximum number of members that Find compares one by one.
const fewMembers = 16

// Find returns the index of the member with a name, or -1.
func (n *Node) Find(name string) int {
	if n.index != nil {
		if i, ok := n.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range n.Members {
		if n.Members[i].Name == name {
			return i
		}
	}
	return -1
}

// Get returns the value of the member with a name, or nil.
func (n *Node) Get(name string) *Node {
	if i := n.Find(name); i >= 0 {
		return &n.Members[i].Value
	}
	return nil
}

// add adds a member, or replaces the value of the one with the same name. It reports whether the
// name is new.
func (n *Node) add(m Member) bool {
	if i := n.Find(m.Name); i >= 0 {
		n.Members[i].Value = m.Value
		return false
	}
	n.Members = append(n.Members, m)
	switch {
	case n.index != nil:
		n.index[m.Name] = len(n.Members) - 1
	case len(n.Members) > fewMembers:
		n.index = make(map[string]int, 2*len(n.Members))
		for i := range n.Members {
			n.index[n.Members[i].Name] = i
		}
	}
	return true
}

// Unquote returns the text of a string value.
func (n *Node) Unquote() string { return Unquote(n.Text) }

// Items returns the items of an array.
func (n *Node) Items() []Node {
	texts, _ := Items(n.Text, len(n.Text))
	items := make([]Node, len(texts))
	for i, text := range texts {
		p := parser{text: text}
		items[i], _ = p.node(0, 0)
	}
	return items
}
