package structural

import (
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	celcommon "k8s.io/apiserver/pkg/cel/common"
)

// rules are the rules of one schema. Their programs are built when an object first needs them, and
// kept.
type rules struct {
	list  []*Rule
	paths []string // of the fields that they name, "" if they name none

	once     sync.Once
	programs []compiled
	err      error
}

// compiled is a rule that can be evaluated.
type compiled struct {
	rule        *Rule
	path        string
	program     cel.Program
	message     cel.Program // nil if there is no messageExpression
	usesOldSelf bool
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
func (r *rules) build(n *node, resource bool) ([]compiled, error) {
	r.once.Do(func() { r.programs, r.err = r.compile(n, resource) })
	return r.programs, r.err
}

func (r *rules) compile(n *node, resource bool) ([]compiled, error) {
	typ := celcommon.SchemaDeclType(declare(n), resource)
	if typ == nil {
		return nil, fmt.Errorf("unable to convert structural schema to CEL declarations")
	}
	env, err := newRuleEnv(typ)
	if err != nil {
		return nil, err
	}
	out := make([]compiled, len(r.list))
	for i, rule := range r.list {
		e, err := env.compile(rule)
		if err != nil {
			return nil, err
		}
		out[i] = compiled{rule: rule, path: r.paths[i], usesOldSelf: e.usesOldSelf}
		if out[i].program, err = program(e.ast); err != nil {
			return nil, err
		}
		if rule.MessageExpression == "" {
			continue
		}
		ast, err := env.compileMessage(rule)
		if err != nil {
			return nil, err
		}
		if out[i].message, err = program(ast); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// expression is a rule that passed the type check.
type expression struct {
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

func (e *ruleEnv) compile(rule *Rule) (*expression, error) {
	ast, issues := e.env(rule).Compile(rule.Rule)
	if issues != nil && issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %s", issues.String())
	}
	if ast.OutputType() != cel.BoolType {
		return nil, fmt.Errorf("cel expression must evaluate to a bool")
	}
	out := &expression{ast: ast}
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
