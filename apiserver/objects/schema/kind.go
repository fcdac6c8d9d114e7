package schema

// Identity holds the names of a kind and the paths at which it is served.
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

// QualifiedPlural returns the plural with its group as messages contain it, such as "pods" or
// "daemonsets.apps".
func (i *Identity) QualifiedPlural() string {
	if i.Group == "" {
		return i.Plural
	}
	return i.Plural + "." + i.Group
}

// QualifiedKind returns the kind with its group as messages contain it, such as "Pod" or
// "DaemonSet.apps".
func (i *Identity) QualifiedKind() string {
	if i.Group == "" {
		return i.Kind
	}
	return i.Kind + "." + i.Group
}

// ByPrefix groups kinds by the path prefix at which they are served.
func ByPrefix(kinds []*Kind) map[string][]*Kind {
	out := map[string][]*Kind{}
	for _, k := range kinds {
		out[k.Prefix] = append(out[k.Prefix], k)
	}
	return out
}

// Strategy defines how writes treat the objects of a kind.
type Strategy struct {
	Generation               bool // metadata.generation is 1 on create and incremented when the spec changes
	AllowUnconditionalUpdate bool // PUT does not need a resourceVersion
	AllowCreateOnUpdate      bool // PUT creates a missing object
	HasStatus                bool // the message has a field `status`; of a custom kind: the status is a subresource
	DefaultGracePeriod       int64
	DefaultPropagation       string // "Background", "Orphan", "Foreground", or "None": no garbage collection
	CleanupFinalizer         string // added when an object is deleted; a controller removes it. "" for most kinds
	TTLSeconds               int64  // 0 means that objects do not expire
}

// Kind is a compiled kind. It is immutable except for its pools, and safe for concurrent use.
type Kind struct {
	Identity
	File       string // name of the file, such as "daemonset.yaml"; "" for kinds without a file
	Spec       *KindSpec
	Message    *Message
	Strategy   Strategy
	Operations Operations
	Resource   string // first part of the keys that its objects are stored under
	Scale      *Kind  // kind of the subresource scale, a view of the objects; nil if there is none

	slots     metaSlots
	prefix    string // `{"kind":"K","apiVersion":"v",`
	name      nameRule
	hooks     kindHooks
	selectors []selector
	protobuf  bool     // every field has a number
	storage   *Kind    // the kind in whose form objects are stored; differs from this kind only for views
	renames   bool     // objects may be stored under another apiVersion, in the same form
	converts  bool     // objects are stored in another form, if only with another group in it
	groups    renaming // of a view: from the group of the stored objects to its own
	open      bool     // the kind is schemaless
	unserved  bool     // no client can use the kind; objects are stored in its form
	custom    *custom  // nil but for custom kinds
	adapter   *Kind    // the custom kind to whose schema stored objects are adapted when they are read; nil if they are not
	scaling   scaling
	versions  []*Kind      // of the kind that is stored: itself and its views
	requests  onceDecoders // of what clients send
	encodings encodings    // of what is stored
	decoders  decoders     // of stored objects
	contexts  contexts
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

// ListPrefix returns the length of the prefix of a stored value that contains kind and apiVersion,
// which the items of a list omit. An item is "{" + value[ListPrefix():].
func (k *Kind) ListPrefix() int { return len(k.prefix) }

// Versions returns the kinds that serve the same objects, this one included: one for each
// apiVersion. The caller must not modify the slice.
func (k *Kind) Versions() []*Kind { return k.storage.versions }

// AsVersion returns the kind that serves the same objects with another apiVersion, or nil.
func (k *Kind) AsVersion(apiVersion string) *Kind {
	for _, version := range k.storage.versions {
		if version.APIVersion == apiVersion {
			return version
		}
	}
	return nil
}

// CheckName returns the reasons why a name violates the kind's name rule, or nil if it is valid.
func (k *Kind) CheckName(name string) []string { return k.name.check(name, false) }
