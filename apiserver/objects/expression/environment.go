package expression

import (
	"fmt"
	"math"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// The memory of a program, as estimated: a part that all have, and another by each byte of its
// source (TestProgramBytes of package structural).
const (
	programBytes = 14 << 10
	sourceBytes  = 48
)

// ProgramBytes estimates the memory of the program of an expression.
func ProgramBytes(source string) int64 { return programBytes + sourceBytes*int64(len(source)) }

// Environment returns the CEL environment that all expressions share: the language and the
// libraries of Kubernetes. It declares no variables. Without an authorizer, expressions cannot use
// the functions for authorization.
var Environment = sync.OnceValues(func() (*cel.Env, error) {
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

// NewProgram returns the program of a checked expression. One evaluation costs at most PerCallLimit
// of Kubernetes. The program refers to the shared environment only, so that it does not keep the
// types of the expression's variables in memory.
func NewProgram(ast *cel.Ast) (cel.Program, error) {
	base, err := Environment()
	if err != nil {
		return nil, fmt.Errorf("create CEL environment: %w", err)
	}
	p, err := base.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(celconfig.PerCallLimit),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(celconfig.CheckFrequency),
	)
	if err != nil {
		return nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	return p, nil
}

// costOf returns what an evaluation has cost; without its cost, no more may be evaluated.
func costOf(details *cel.EvalDetails) int64 {
	if details == nil || details.ActualCost() == nil {
		return math.MaxInt64
	}
	return int64(min(*details.ActualCost(), math.MaxInt64))
}
