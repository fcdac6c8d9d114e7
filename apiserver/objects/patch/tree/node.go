package tree

// Form is what a JSON value is.
type Form uint8

// The forms. None is no value at all.
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

// String names the form as messages do: "an array".
func (f Form) String() string { return words[f] }

// FormOf returns the form of a value by its text.
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

// Node is a value of a patch. Objects are taken apart down to what is no object; arrays stay text,
// as most of them are put in place as they are.
type Node struct {
	Text    string
	Members []Member // of an object; of a name given twice the last value, at the first place

	index map[string]int // of objects with more than a few members
}

// Member is a member of an object.
type Member struct {
	Name  string
	Key   string // the name as it is written, with quotes
	Value Node
}

// Form returns what the value is.
func (n *Node) Form() Form { return FormOf(n.Text) }

// fewMembers are compared one by one.
const fewMembers = 16

// Find returns the place of a name among the members; -1 when there is none.
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

// Get returns a member's value; nil when there is none.
func (n *Node) Get(name string) *Node {
	if i := n.Find(name); i >= 0 {
		return &n.Members[i].Value
	}
	return nil
}

// add adds a member and reports whether the name is new.
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
