package structural

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"

	"quorate/apiserver/objects/expression"
)

// rules are the rules of one schema. Their programs are built when an object first needs them, and
// kept by Programs.
type rules struct {
	list  []*Rule
	paths []string // of the fields that they name, "" if they name none

	building sync.Mutex
	programs atomic.Pointer[built]
}

// built is the programs of the rules of one schema.
type built struct {
	expression.Kept
	list []compiled
}

// compiled is a rule that can be evaluated.
type compiled struct {
	rule        *Rule
	path        string
	program     cel.Program
	message     cel.Program // nil if there is no messageExpression
	usesOldSelf bool
	err         error // why the rule cannot be evaluated: a schema that Compile returned has none
}

func newRules(k *keywords) *rules {
	if len(k.rules) == 0 {
		return nil
	}
	r := &rules{list: k.rules}
	for _, rule := range k.rules {
		path := ""
		if p, err := fieldPath(rule.FieldPath, k); err == nil && p != nil {
			path = p.String()
		}
		r.paths = append(r.paths, path)
	}
	return r
}

// write writes a text that is the same for equal rules only.
func (r *rules) write(key *strings.Builder) {
	if r == nil {
		return
	}
	for i, rule := range r.list {
		optional := "unset"
		if rule.OptionalOldSelf != nil {
			optional = fmt.Sprint(*rule.OptionalOldSelf)
		}
		fmt.Fprintf(key, "%q %q %q %q %q %q", rule.Rule, rule.Message, rule.MessageExpression, rule.reason(), r.paths[i], optional)
	}
}

// build returns the programs of a node's rules. resource says that the node is the object itself.
func (r *rules) build(programs *expression.Programs, n *node, resource bool) ([]compiled, error) {
	if b := r.programs.Load(); b != nil {
		programs.Use(&b.Kept)
		return b.list, nil
	}
	r.building.Lock()
	defer r.building.Unlock()
	if b := r.programs.Load(); b != nil {
		return b.list, nil
	}
	b, err := r.compile(n, resource)
	if err != nil {
		return nil, err
	}
	b.Drop = func() { r.programs.CompareAndSwap(b, nil) }
	r.programs.Store(b)
	programs.Keep(&b.Kept)
	return b.list, nil
}

// forget drops the programs.
func (r *rules) forget() { r.programs.Store(nil) }

func (r *rules) compile(n *node, resource bool) (*built, error) {
	typ := celcommon.SchemaDeclType(declare(n), resource)
	if typ == nil {
		return nil, fmt.Errorf("unable to convert structural schema to CEL declarations")
	}
	env, err := newRuleEnv(typ)
	if err != nil {
		return nil, err
	}
	out := &built{list: make([]compiled, len(r.list))}
	for i, rule := range r.list {
		c := &out.list[i]
		*c = compiled{rule: rule, path: r.paths[i]}
		c.err = c.compile(env)
		out.Bytes += expression.ProgramBytes(rule.Rule)
		if rule.MessageExpression != "" {
			out.Bytes += expression.ProgramBytes(rule.MessageExpression)
		}
	}
	return out, nil
}

// compile compiles the expressions of a rule.
func (c *compiled) compile(env *ruleEnv) error {
	e, err := env.compile(c.rule)
	if err != nil {
		return err
	}
	c.usesOldSelf = e.usesOldSelf
	if c.program, err = expression.NewProgram(e.ast); err != nil || c.rule.MessageExpression == "" {
		return err
	}
	ast, err := env.compileMessage(c.rule)
	if err != nil {
		return err
	}
	c.message, err = expression.NewProgram(ast)
	return err
}

// checked is a rule that passed the type check.
type checked struct {
	ast         *cel.Ast
	usesOldSelf bool
}

// env returns the environment for a rule.
func (e *ruleEnv) env(rule *Rule) *cel.Env {
	if rule.OptionalOldSelf != nil && *rule.OptionalOldSelf {
		return e.optional
	}
	return e.check
}

func (e *ruleEnv) compile(rule *Rule) (*checked, error) {
	ast, issues := e.env(rule).Compile(rule.Rule)
	if issues != nil && issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %s", issues.String())
	}
	if ast.OutputType() != cel.BoolType {
		return nil, fmt.Errorf("cel expression must evaluate to a bool")
	}
	out := &checked{ast: ast}
	for _, ref := range ast.NativeRep().ReferenceMap() {
		out.usesOldSelf = out.usesOldSelf || ref.Name == "oldSelf"
	}
	return out, nil
}

func (e *ruleEnv) compileMessage(rule *Rule) (*cel.Ast, error) {
	ast, issues := e.env(rule).Compile(rule.MessageExpression)
	if issues != nil && issues.Err() != nil {
		return nil, fmt.Errorf("messageExpression compilation failed: %s", issues.String())
	}
	if ast.OutputType() != cel.StringType {
		return nil, fmt.Errorf("messageExpression must evaluate to a string")
	}
	return ast, nil
}

// reason returns the reason of errors, "" if the rule has none.
func (r *Rule) reason() string {
	if r.Reason == nil {
		return ""
	}
	return *r.Reason
}
