package schema

// Identity is how a kind is named and where it is served.
type Identity struct {
	Kind       string // "DaemonSet"
	Group      string // "apps"; "" for core
	Version    string // "v1beta2"
	APIVersion string // "apps/v1beta2"
	Prefix     string // "/apis/apps/v1beta2"
	Plural     string // "daemonsets"
	Singular   string // "daemonset"
	ListKind   string // "DaemonSetList"
	ShortNames []string
	Categories []string
	Namespaced bool
}

// QualifiedPlural returns the plural with its group, as messages name it: "pods",
// "daemonsets.apps".
func (i *Identity) QualifiedPlural() string {
	if i.Group == "" {
		return i.Plural
	}
	return i.Plural + "." + i.Group
}

// QualifiedKind returns the kind with its group, as messages name it: "Pod", "DaemonSet.apps".
func (i *Identity) QualifiedKind() string {
	if i.Group == "" {
		return i.Kind
	}
	return i.Kind + "." + i.Group
}

// ByPrefix groups kinds by where they are served.
func ByPrefix(kinds []*Kind) map[string][]*Kind {
	out := map[string][]*Kind{}
	for _, k := range kinds {
		out[k.Prefix] = append(out[k.Prefix], k)
	}
	return out
}

// Strategy says how writes treat the objects of a kind.
type Strategy struct {
	Generation               bool // 1 on create, one more whenever the spec changes
	AllowUnconditionalUpdate bool // replace without resourceVersion
	AllowCreateOnUpdate      bool // replace of a missing object creates it
	HasStatus                bool // the message has a field `status`
	DefaultGracePeriod       int64
	DefaultPropagation       string // "Background", "Orphan", "Foreground", or "None": garbage collection is not asked
	TTLSeconds               int64  // 0: for ever
}

// Kind is a compiled kind. It never changes; what it keeps for use again is safe for concurrent
// use.
type Kind struct {
	Identity
	File       string // the file that it is compiled from, "daemonset.yaml"; "" of kinds without one
	Spec       *KindSpec
	Message    *Message
	Strategy   Strategy
	Operations Operations
	Resource   string // first part of the keys its objects are stored under
	Scale      *Kind  // what its subresource scale is: a view of its objects; nil without

	slots     metaSlots
	prefix    string // `{"kind":"K","apiVersion":"v",`
	name      nameRule
	hooks     kindHooks
	selectors []selector
	protobuf  bool  // every field has a number
	storage   *Kind // the kind whose form is stored; itself but for views
	renames   bool  // its objects may be stored under another apiVersion, in the same form
	converts  bool  // its objects are stored in another form
	open      bool  // schemaless
	scaling   scaling
	decoders  decoders
}

// kindHooks are the kind's hooks, resolved.
type kindHooks struct {
	afterDecode    []Step
	prepare        [4][]Step // by Operation
	validators     []Validator
	validateUpdate []Comparison
	canonicalize   []Step
	toStorage      Converter
	fromStorage    Converter
}

// ListPrefix returns how long the beginning of a stored value is that list items leave out after
// their brace: kind and apiVersion with their comma. An item is "{" + value[ListPrefix():].
func (k *Kind) ListPrefix() int { return len(k.prefix) }

// CheckName returns what is wrong with a name by the kind's rule, in words; nothing for a good one.
func (k *Kind) CheckName(name string) []string { return k.name.check(name, false) }
