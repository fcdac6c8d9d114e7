package structural

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	celapi "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// Limits of rules, which are those of Kubernetes. Costs are in units of CEL's cost model.
const (
	maxRuleCost        = 10_000_000  // estimated, of one rule
	maxSchemaCost      = 100_000_000 // estimated, of all rules of a schema
	maxCallCost        = 1_000_000   // of one evaluation
	maxObjectCost      = 10_000_000  // of all evaluations for one object
	maxMessageBytes    = 5 << 10     // of what messageExpression returns
	maxObjectBytes     = 3 << 20     // assumed by estimates
	interruptFrequency = 100         // iterations between two checks for the end of the request
)

// selfType is the name of the type of self, which no expression can write.
const selfType = "@self"

// baseEnv returns the CEL environment of all rules: the language and the libraries of Kubernetes.
// Rules of schemas have no authorizer, so they cannot use the functions for authorization.
var baseEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.HomogeneousAggregateLiterals(),
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.ASTValidators(
			cel.ValidateDurationLiterals(),
			cel.ValidateTimestampLiterals(),
			cel.ValidateRegexLiterals(),
			cel.ValidateHomogeneousAggregateLiterals(),
		),
		library.Authz(), library.AuthzSelectors(), library.URLs(), library.Regex(), library.Lists(library.ListsVersion(0)), library.Quantity(),
		library.IP(), library.CIDR(), library.Format(), library.SemverLib(library.SemverVersion(1)),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(), ext.Lists(ext.ListsVersion(3)),
	)
})

// ruleEnv is the environment of the rules of one schema.
type ruleEnv struct {
	check     *cel.Env // declares self and oldSelf
	optional  *cel.Env // the same with an optional oldSelf
	estimator *library.CostEstimator
	typ       *celapi.DeclType
}

// newRuleEnv declares self and oldSelf with a type.
func newRuleEnv(typ *celapi.DeclType) (*ruleEnv, error) {
	base, err := baseEnv()
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

// program returns the program of a checked expression. It refers to the base environment only, so
// that it does not keep the types of a schema in memory.
func program(ast *cel.Ast) (cel.Program, error) {
	base, err := baseEnv()
	if err != nil {
		return nil, fmt.Errorf("create CEL environment: %w", err)
	}
	p, err := base.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(maxCallCost),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(interruptFrequency),
	)
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	return p, nil
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
