package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"quorate/apiserver/limit"
)

// MaxDepth limits the nesting of a patch and of its result. It is the limit of all request bodies.
const MaxDepth = 200

const (
	maxProblems     = 100 // reported for one body
	maxProblemBytes = 512 // of the path in one problem
)

var errTooDeep = limit.Reached(limit.Nesting, errors.New("exceeded max depth"))

// Parse parses a patch. problems contains a text for each duplicate name in an object (F37): the
// first hundred, and the number of the others.
func Parse(body []byte) (n *Node, problems []string, err error) {
	if !json.Valid(body) {
		var raw json.RawMessage
		return nil, nil, json.Unmarshal(body, &raw) // for the error message
	}
	p := parser{text: string(body)}
	root, _ := p.node(Space(p.text, 0), 0)
	if p.tooDeep {
		return nil, nil, errTooDeep
	}
	if p.more > 0 {
		p.problems = append(p.problems, fmt.Sprintf("%d more duplicate fields", p.more))
	}
	return &root, p.problems, nil
}

// parser parses valid JSON text.
type parser struct {
	text     string
	path     []step
	problems []string
	more     int
	tooDeep  bool
}

// step is one step of the path to a value: a member's name with index -1, or the index of an item.
type step struct {
	name  string
	index int
}

// node parses the value at position i and returns the position after it.
func (p *parser) node(i, depth int) (Node, int) {
	if depth > MaxDepth {
		p.tooDeep = true
		return Node{}, len(p.text)
	}
	switch at(p.text, i) {
	case '{':
		return p.object(i, depth)
	case '[':
		return p.array(i, depth)
	}
	end := Skip(p.text, i)
	return Node{Text: p.text[i:end]}, end
}

func (p *parser) object(i, depth int) (Node, int) {
	n := Node{}
	members := OpenMembers(p.text, i)
	for members.Next() {
		p.path = append(p.path, step{name: members.Name, index: -1})
		value, end := p.node(members.Value, depth+1)
		if !n.add(Member{Name: members.Name, Key: members.Key(), Value: value}) {
			p.duplicate()
		}
		p.path = p.path[:len(p.path)-1]
		members.Past(end)
	}
	n.Text = p.text[i:members.End()]
	return n, members.End()
}

// array checks the items for duplicate names but does not keep them. Node.Items parses them again
// when needed.
func (p *parser) array(i, depth int) (Node, int) {
	start := i
	i = Space(p.text, i+1)
	for item := 0; i < len(p.text) && p.text[i] != ']'; item++ {
		p.path = append(p.path, step{index: item})
		_, end := p.node(i, depth+1)
		p.path = p.path[:len(p.path)-1]
		i = Space(p.text, end)
		if at(p.text, i) == ',' {
			i = Space(p.text, i+1)
		}
	}
	end := min(i+1, len(p.text))
	return Node{Text: p.text[start:end]}, end
}

// duplicate records a problem for the current member, whose name is a duplicate.
func (p *parser) duplicate() {
	if len(p.problems) >= maxProblems {
		p.more++
		return
	}
	var b strings.Builder
	for _, s := range p.path {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case b.Len() > 0:
			b.WriteString("." + s.name)
		default:
			b.WriteString(s.name)
		}
		if b.Len() > maxProblemBytes {
			break
		}
	}
	path := b.String()
	if len(path) > maxProblemBytes {
		path = strings.ToValidUTF8(path[:maxProblemBytes], "") + "..."
	}
	p.problems = append(p.problems, "duplicate field "+strconv.Quote(path))
}
