package structural

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	celapi "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"

	"quorate/apiserver/objects/expression"
)

// Limits of rules, which are those of Kubernetes. Costs are in units of CEL's cost model.
const (
	maxRuleCost     = 10_000_000  // estimated, of one rule
	maxSchemaCost   = 100_000_000 // estimated, of all rules of a schema
	maxObjectCost   = 10_000_000  // of all evaluations for one object
	maxMessageBytes = 5 << 10     // of what messageExpression returns
	maxObjectBytes  = 3 << 20     // assumed by estimates
)

// selfType is the name of the type of self, which no expression can write.
const selfType = "@self"

// ruleEnv is the environment of the rules of one schema.
type ruleEnv struct {
	check     *cel.Env // declares self and oldSelf
	optional  *cel.Env // the same with an optional oldSelf
	estimator *library.CostEstimator
	typ       *celapi.DeclType
}

// newRuleEnv declares self and oldSelf with a type.
func newRuleEnv(typ *celapi.DeclType) (*ruleEnv, error) {
	base, err := expression.Environment()
	if err != nil {
		return nil, fmt.Errorf("create CEL environment: %w", err)
	}
	typ = typ.MaybeAssignTypeName(selfType)
	provider := celapi.NewDeclTypeProvider(typ)
	provider.SetRecognizeKeywordAsFieldName(true)
	options, err := provider.EnvOptions(base.CELTypeProvider())
	if err != nil {
		return nil, fmt.Errorf("declare CEL types: %w", err)
	}
	options = append(options, cel.Variable("self", typ.CelType()))
	e := &ruleEnv{estimator: &library.CostEstimator{SizeEstimator: &sizeEstimator{typ}}, typ: typ}
	if e.check, err = base.Extend(append(options[:len(options):len(options)], cel.Variable("oldSelf", typ.CelType()))...); err != nil {
		return nil, fmt.Errorf("extend CEL environment: %w", err)
	}
	if e.optional, err = base.Extend(append(options, cel.Variable("oldSelf", types.NewOptionalType(typ.CelType())))...); err != nil {
		return nil, fmt.Errorf("extend CEL environment: %w", err)
	}
	return e, nil
}

// sizeEstimator estimates the sizes of the parts of self by its type.
type sizeEstimator struct {
	root *celapi.DeclType
}

func (s *sizeEstimator) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	typ := s.root
	for _, name := range path[1:] {
		switch name {
		case "@items", "@values":
			typ = typ.ElemType
		case "@keys":
			typ = typ.KeyType
		default:
			f, ok := typ.Fields[name]
			if !ok {
				return nil
			}
			typ = f.Type
		}
		if typ == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Min: 0, Max: uint64(typ.MaxElements)}
}

// EstimateCallCost leaves the costs of functions to the libraries.
func (s *sizeEstimator) EstimateCallCost(_, _ string, _ *checker.AstNode, _ []checker.AstNode) *checker.CallEstimate {
	return nil
}
