package expression

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	celapi "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// MaxConditions is the largest number of conditions of one webhook.
const MaxConditions = 64

// Condition is an expression about a request that package admission passes to webhooks. Its
// variables are object, oldObject, request and authorizer. Its program is built when it is first
// needed.
type Condition struct {
	Name, Expression string

	building sync.Mutex
	built    atomic.Pointer[builtCondition]
}

type builtCondition struct {
	Kept
	program cel.Program
}

// Request holds the values of the variables. Object and OldObject are JSON objects, or nil.
type Request struct {
	Object, OldObject any
	// Attributes is the value of the variable request: the members of an AdmissionRequest but for
	// uid, object and oldObject.
	Attributes map[string]any
	// Authorizer and ResourceAuthorizer are values of package library.
	Authorizer, ResourceAuthorizer ref.Val
}

// ResolveName implements interpreter.Activation.
func (r *Request) ResolveName(name string) (any, bool) {
	switch name {
	case "object":
		return orNull(r.Object), true
	case "oldObject":
		return orNull(r.OldObject), true
	case "request":
		return r.Attributes, true
	case "authorizer":
		return r.Authorizer, r.Authorizer != nil
	case "authorizer.requestResource":
		return r.ResourceAuthorizer, r.ResourceAuthorizer != nil
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (r *Request) Parent() interpreter.Activation { return nil }

func orNull(v any) any {
	if v == nil {
		return types.NullValue
	}
	return v
}

// conditionEnv declares the variables of conditions.
var conditionEnv = sync.OnceValues(func() (*cel.Env, error) {
	base, err := Environment()
	if err != nil {
		return nil, err
	}
	request := requestType()
	provider := celapi.NewDeclTypeProvider(request)
	provider.SetRecognizeKeywordAsFieldName(true)
	options, err := provider.EnvOptions(base.CELTypeProvider())
	if err != nil {
		return nil, err
	}
	return base.Extend(append(options,
		cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("request", request.CelType()),
		cel.Variable("authorizer", library.AuthorizerType), cel.Variable("authorizer.requestResource", library.ResourceCheckType),
	)...)
})

// requestType is the type of the variable request.
func requestType() *celapi.DeclType {
	object := func(name string, required bool, fields map[string]*celapi.DeclType) *celapi.DeclType {
		declared := map[string]*celapi.DeclField{}
		for field, typ := range fields {
			declared[field] = celapi.NewDeclField(field, typ, required, nil, nil)
		}
		return celapi.NewObjectType("kubernetes."+name, declared)
	}
	text := celapi.StringType
	texts := celapi.NewListType(text, -1)
	kind := object("GroupVersionKind", true, map[string]*celapi.DeclType{"group": text, "version": text, "kind": text})
	resource := object("GroupVersionResource", true, map[string]*celapi.DeclType{"group": text, "version": text, "resource": text})
	user := object("UserInfo", false, map[string]*celapi.DeclType{
		"username": text, "uid": text, "groups": texts, "extra": celapi.NewMapType(text, texts, -1),
	})
	return object("AdmissionRequest", false, map[string]*celapi.DeclType{
		"kind": kind, "resource": resource, "subResource": text,
		"requestKind": kind, "requestResource": resource, "requestSubResource": text,
		"name": text, "namespace": text, "operation": text, "userInfo": user, "dryRun": celapi.BoolType, "options": celapi.DynType,
	})
}

// Check compiles a condition. The error says what is wrong with it, in the words of Kubernetes.
func (c *Condition) Check() error {
	_, err := c.compile()
	return err
}

func (c *Condition) compile() (*cel.Ast, error) {
	env, err := conditionEnv()
	if err != nil {
		return nil, fmt.Errorf("create CEL environment: %w", err)
	}
	ast, issues := env.Compile(c.Expression)
	if issues != nil && issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %s", issues.String())
	}
	if !ast.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("must evaluate to %v but got %v", cel.BoolType, ast.OutputType())
	}
	return ast, nil
}

// program returns the program of a condition, which programs keeps.
func (c *Condition) program(programs *Programs) (cel.Program, error) {
	if b := c.built.Load(); b != nil {
		programs.Use(&b.Kept)
		return b.program, nil
	}
	c.building.Lock()
	defer c.building.Unlock()
	if b := c.built.Load(); b != nil {
		return b.program, nil
	}
	ast, err := c.compile()
	if err != nil {
		return nil, err
	}
	b := &builtCondition{}
	if b.program, err = NewProgram(ast); err != nil {
		return nil, err
	}
	b.Bytes = ProgramBytes(c.Expression)
	b.Drop = func() { c.built.CompareAndSwap(b, nil) }
	c.built.Store(b)
	programs.Keep(&b.Kept)
	return b.program, nil
}

// errBudget reports that conditions cost too much.
var errBudget = errors.New("validation failed due to running out of cost budget, no further validation rules will be run")

// Hold reports whether all conditions are true for a request. If one is false, errors of others do
// not matter. All together cost at most RuntimeCELCostBudgetMatchConditions of Kubernetes.
func Hold(ctx context.Context, conditions []*Condition, programs *Programs, r *Request) (bool, error) {
	var errs []error
	budget := int64(celconfig.RuntimeCELCostBudgetMatchConditions)
	for _, c := range conditions {
		p, err := c.program(programs)
		if err != nil {
			errs = append(errs, fmt.Errorf("compilation error: %w", err))
			continue
		}
		result, details, err := p.ContextEval(ctx, r)
		if budget -= min(costOf(details), budget+1); budget < 0 {
			return false, errBudget
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("expression '%s' resulted in error: %w", c.Expression, err))
		case result == types.False:
			return false, nil
		}
	}
	return len(errs) == 0, utilerrors.NewAggregate(errs)
}
