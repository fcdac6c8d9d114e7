package schema

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// KindSpec is the content of a kind file. README.md of package kinds explains the keys.
type KindSpec struct {
	Kind       string   `yaml:"kind"`
	Group      string   `yaml:"group"`
	Version    string   `yaml:"version"`
	APIVersion string   `yaml:"apiVersion"`
	Prefix     string   `yaml:"prefix"`
	Plural     string   `yaml:"plural"`
	Singular   string   `yaml:"singular"`
	ListKind   string   `yaml:"listKind"`
	ShortNames []string `yaml:"shortNames"`
	Categories []string `yaml:"categories"`
	Scope      string   `yaml:"scope"`
	Contexts   []string `yaml:"contexts"`
	Message    string   `yaml:"message"`
	Storage    string   `yaml:"storage"`
	Extra      string   `yaml:"extra"`
	Unstored   bool     `yaml:"unstored"`

	NameRule       NameRuleSpec        `yaml:"nameRule"`
	Operations     OperationsSpec      `yaml:"operations"`
	Subresources   SubresourcesSpec    `yaml:"subresources"`
	FieldSelectors FieldSelectorsSpec  `yaml:"fieldSelectors"`
	Strategy       StrategySpec        `yaml:"strategy"`
	Hooks          KindHooksSpec       `yaml:"hooks"`
	Columns        []ColumnSpec        `yaml:"columns"`
	Columns18      []string            `yaml:"columns1_8"`
	Computed       map[string][]string `yaml:"computed"`
	Notes          []string            `yaml:"notes"`
	Messages       messageSpecs        `yaml:"messages"`
}

// NameRuleSpec is the rule that metadata.name must follow.
type NameRuleSpec struct {
	Format string `yaml:"format"`
	Max    int    `yaml:"max"`
	Rule   string `yaml:"rule"`
	Note   string `yaml:"note"`
}

// OperationsSpec lists the operations that a kind offers.
type OperationsSpec struct {
	Specified       []string `yaml:"specified"`
	Partial         bool     `yaml:"partial"`
	UnspecifiedRest []string `yaml:"unspecifiedRest"`
	NotOffered      []string `yaml:"notOffered"`
	ReadParams      []string `yaml:"readParams"`
	Chunking        bool     `yaml:"chunking"`
}

// SubresourcesSpec names subresources, with their methods in parentheses.
type SubresourcesSpec struct {
	Specified     []string   `yaml:"specified"`
	UpstreamExtra []string   `yaml:"upstreamExtra"`
	Scale         *ScaleSpec `yaml:"scale"`
}

// ScaleSpec gives the paths of the fields that the subresource scale shows.
type ScaleSpec struct {
	Replicas string `yaml:"replicas"`
	Observed string `yaml:"observed"`
	Selector string `yaml:"selector"`
}

// FieldSelectorsSpec lists the fields that a field selector may name.
type FieldSelectorsSpec struct {
	Supported []string          `yaml:"supported"`
	Accepted  []string          `yaml:"accepted"`
	Aliases   map[string]string `yaml:"aliases"`
	Paths     map[string]string `yaml:"paths"`
	Note      string            `yaml:"note"`
}

// StrategySpec defines how writes treat objects of the kind. Its texts are documentation; hooks
// implement them.
type StrategySpec struct {
	OnCreate                 []string          `yaml:"onCreate"`
	OnUpdate                 map[string]string `yaml:"onUpdate"`
	OnDelete                 []string          `yaml:"onDelete"`
	MutableOnly              []string          `yaml:"mutableOnly"`
	Immutable                []string          `yaml:"immutable"`
	Generation               bool              `yaml:"generation"`
	AllowUnconditionalUpdate *bool             `yaml:"allowUnconditionalUpdate"`
	AllowCreateOnUpdate      bool              `yaml:"allowCreateOnUpdate"`
	DefaultGracePeriod       GraceSpec         `yaml:"defaultGracePeriod"`
	DefaultPropagation       string            `yaml:"defaultPropagation"`
	CleanupFinalizer         string            `yaml:"cleanupFinalizer"`
	TTLSeconds               int64             `yaml:"ttlSeconds"`
}

// GraceSpec is the grace period of a delete without gracePeriodSeconds.
type GraceSpec struct {
	Default int64  `yaml:"default"`
	Rule    string `yaml:"rule"`
}

// KindHooksSpec names the kind's hooks; see Hooks.
type KindHooksSpec struct {
	AfterDecode            []string `yaml:"afterDecode"`
	PrepareForCreate       []string `yaml:"prepareForCreate"`
	PrepareForUpdate       []string `yaml:"prepareForUpdate"`
	PrepareForStatusUpdate []string `yaml:"prepareForStatusUpdate"`
	PrepareForFinalize     []string `yaml:"prepareForFinalize"`
	Validate               []string `yaml:"validate"`
	ValidateUpdate         []string `yaml:"validateUpdate"`
	Canonicalize           []string `yaml:"canonicalize"`
	ToStorage              string   `yaml:"toStorage"`
	FromStorage            string   `yaml:"fromStorage"`
}

// ColumnSpec is a column of the kind's table.
type ColumnSpec struct {
	Name        string `yaml:"name"`
	Type        string `yaml:"type"`
	Format      string `yaml:"format"`
	Description string `yaml:"description"`
	Priority    int    `yaml:"priority"`
	Value       string `yaml:"value"`
	Render      string `yaml:"render"`
	Empty       string `yaml:"empty"`
	Rule        string `yaml:"rule"`
}

// MessageSpec is a message in a file.
type MessageSpec struct {
	Description  string     `yaml:"description"`
	Upstream     string     `yaml:"upstream"`
	OneOf        string     `yaml:"oneOf"`
	Rule         string     `yaml:"rule"`
	Note         string     `yaml:"note"`
	Open         bool       `yaml:"open"`
	Atomic       bool       `yaml:"atomic"`
	Union        bool       `yaml:"union"`
	ProtoWrapper string     `yaml:"protoWrapper"`
	Validate     []string   `yaml:"validate"`
	Defaulter    string     `yaml:"defaulter"`
	Fields       fieldSpecs `yaml:"fields"`
}

// FieldSpec is a field in a file.
type FieldSpec struct {
	Type        string `yaml:"type"`
	Description string `yaml:"description"`

	Proto            int    `yaml:"proto"`
	Wire             string `yaml:"wire"`
	ProtoWrap        int    `yaml:"protoWrap"`
	ProtoListWrapper bool   `yaml:"protoListWrapper"`
	ProtoMessage     string `yaml:"protoMessage"`
	ProtoName        string `yaml:"protoName"`
	Upstream         string `yaml:"upstream"`

	Pointer        bool      `yaml:"pointer"`
	Emit           string    `yaml:"emit"`
	Required       bool      `yaml:"required"`
	RequiredWhen   string    `yaml:"requiredWhen"`
	SchemaRequired bool      `yaml:"schemaRequired"`
	Default        yaml.Node `yaml:"default"`
	DefaultRule    string    `yaml:"defaultRule"`
	DefaultWhen    string    `yaml:"defaultWhen"`

	Enum       []string `yaml:"enum"`
	EnumOpen   []string `yaml:"enumOpen"`
	ItemEnum   []string `yaml:"itemEnum"`
	EnumEnv    []string `yaml:"enumEnv"`
	EnumVolume []string `yaml:"enumVolume"`

	Format        string `yaml:"format"`
	KeyFormat     string `yaml:"keyFormat"`
	ValueFormat   string `yaml:"valueFormat"`
	ItemFormat    string `yaml:"itemFormat"`
	Min           *int64 `yaml:"min"`
	Max           *int64 `yaml:"max"`
	ItemMin       *int64 `yaml:"itemMin"`
	ItemMax       *int64 `yaml:"itemMax"`
	ValueMin      *int64 `yaml:"valueMin"`
	MinItems      int    `yaml:"minItems"`
	MaxTotalBytes int    `yaml:"maxTotalBytes"`
	MaxValueBytes int    `yaml:"maxValueBytes"`

	PatchStrategy string `yaml:"patchStrategy"`
	PatchMergeKey string `yaml:"patchMergeKey"`
	PatchNote     string `yaml:"patchNote"`

	Atomic      bool     `yaml:"atomic"`
	ListMapKeys []string `yaml:"listMapKeys"`

	Immutable     bool       `yaml:"immutable"`
	ImmutableRule string     `yaml:"immutableRule"`
	SetBy         string     `yaml:"setBy"`
	Rule          string     `yaml:"rule"`
	ItemRule      string     `yaml:"itemRule"`
	Note          string     `yaml:"note"`
	Contexts      []string   `yaml:"contexts"`
	Today         *TodaySpec `yaml:"today"`
	Gate          string     `yaml:"gate"`
	Extra         bool       `yaml:"extra"`
	SpecOnly      bool       `yaml:"specOnly"`
	OwnGroup      bool       `yaml:"ownGroup"`
	StoredAs      string     `yaml:"storedAs"`

	Validate       []string `yaml:"validate"`
	RequiredIf     string   `yaml:"requiredIf"`
	DefaultIf      string   `yaml:"defaultIf"`
	Defaulter      string   `yaml:"defaulter"`
	ImmutableCheck string   `yaml:"immutableCheck"`
}

// TodaySpec says what is different about a field in pod templates of the kinds that are extra,
// which follow the present API (context `today`).
type TodaySpec struct {
	Enum     []string `yaml:"enum"`     // replaces the field's
	Optional bool     `yaml:"optional"` // the field is not required, and left out when empty
}

// today is the context of pod templates that follow the present API.
const today = "today"

// in returns the spec of the field in the context set.
func (s *FieldSpec) in(contexts string) *FieldSpec {
	if s.Today == nil || !selected([]string{today}, contexts) {
		return s
	}
	out := *s
	if s.Today.Enum != nil {
		out.Enum = s.Today.Enum
	}
	if s.Today.Optional {
		out.Required, out.MinItems, out.Emit = false, 0, ""
	}
	return &out
}

// Merges reports whether a list merges item by item.
func (s *FieldSpec) Merges() bool {
	return s.PatchStrategy == "merge" || strings.HasPrefix(s.PatchStrategy, "merge,")
}

// Keys returns the fields that identify the items of a list that merges; none if an item is its own
// identity.
func (s *FieldSpec) Keys() []string {
	switch {
	case len(s.ListMapKeys) > 0:
		return s.ListMapKeys
	case s.PatchMergeKey != "":
		return []string{s.PatchMergeKey}
	}
	return nil
}

// FormatSpec is a named string format in a file.
type FormatSpec struct {
	Pattern   string `yaml:"pattern"`
	MaxLength int    `yaml:"maxLength"`
	Rule      string `yaml:"rule"`
}

// typesSpec is the content of a file under types/.
type typesSpec struct {
	Messages messageSpecs          `yaml:"messages"`
	Formats  map[string]FormatSpec `yaml:"formats"`
	Scalars  map[string]ScalarSpec `yaml:"scalars"`
}

// ScalarSpec describes the encodings of a scalar type.
type ScalarSpec struct {
	JSON     string `yaml:"json"`
	Protobuf string `yaml:"protobuf"`
}

// messageSpecs and fieldSpecs preserve the order of the file.
type (
	messageSpecs []namedMessage
	fieldSpecs   []namedField
)

type namedMessage struct {
	name string
	spec *MessageSpec
}

type namedField struct {
	name string
	spec *FieldSpec
}
