package schema

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	scopeNamespaced = "Namespaced"
	scopeCluster    = "Cluster"
)

// Catalog is the set of all compiled kinds. It is immutable.
type Catalog struct {
	kinds    []*Kind          // that are served
	byRoute  map[string]*Kind // "/api/v1/pods"
	stored   map[string]*Kind // by the resource that their objects are stored under
	unstored []*Kind
	messages map[string]*Message // compiled without contexts
	formats  map[string]FormatSpec
	names    nameRule // of kinds that have no file
}

// Load compiles each *.yaml file in files and in its folder types. Unknown keys and names are
// errors that give the file and the line or key.
func Load(files fs.FS, hooks Hooks) (*Catalog, error) {
	return load(files, &hooks)
}

// load is Load, except that nil hooks omit all hooks; this package's tests use that.
func load(files fs.FS, hooks *Hooks) (*Catalog, error) {
	src, err := readSources(files)
	if err != nil {
		return nil, err
	}
	formats, err := compileFormats(src.formats)
	if err != nil {
		return nil, err
	}
	if err := src.inherit(); err != nil {
		return nil, err
	}
	compiler := newCompiler(src, formats, hooks)
	c := &Catalog{byRoute: map[string]*Kind{}, stored: map[string]*Kind{}, messages: map[string]*Message{}, formats: src.formats}
	if c.names, err = compileNameRule(NameRuleSpec{Max: maxName}, formats); err != nil {
		return nil, err
	}
	for _, file := range src.kinds {
		k, err := compiler.kind(file.spec)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.name, err)
		}
		k.File = file.name
		if k.Spec.Unstored {
			c.unstored = append(c.unstored, k)
			continue
		}
		route := k.Prefix + "/" + k.Plural
		if c.byRoute[route] != nil {
			return nil, fmt.Errorf("%s: another file has the route %s", file.name, route)
		}
		c.byRoute[route] = k
		c.kinds = append(c.kinds, k)
	}
	for name := range src.messages {
		t, err := compiler.message(name, setting{})
		if err != nil {
			return nil, err
		}
		c.messages[name] = t.message
	}
	if err := compiler.finish(); err != nil {
		return nil, err
	}
	for _, k := range slices.Concat(c.kinds, c.unstored) {
		k.protobuf = k.Message.fullyNumbered(map[*Message]bool{})
	}
	if err := c.linkStorage(); err != nil {
		return nil, err
	}
	return c, c.linkScales()
}

// linkStorage links each kind to the kind in whose form its objects are stored.
func (c *Catalog) linkStorage() error {
	for _, k := range c.unstored {
		k.storage = k
	}
	for _, k := range c.kinds {
		if k.Spec.Storage != "" {
			continue
		}
		if other := c.stored[k.Resource]; other != nil {
			return fmt.Errorf("%s and %s are both stored as %s", other.File, k.File, k.Resource)
		}
		c.stored[k.Resource] = k
		k.storage = k
	}
	for _, k := range c.kinds {
		if k.Spec.Storage == "" {
			continue
		}
		if k.storage = c.stored[k.Resource]; k.storage == nil {
			return fmt.Errorf("%s: storage: no kind is stored as %s", k.File, k.Spec.Storage)
		}
		k.converts = k.Message != k.storage.Message
		k.renames = !k.converts
		k.groups = renaming{k.storage.Group, k.Group}
		if k.Message.Spec != k.storage.Message.Spec && !k.Spec.Hooks.converts() {
			if err := k.linkFields(); err != nil {
				return fmt.Errorf("%s: %w", k.File, err)
			}
		}
	}
	for _, k := range c.kinds {
		k.storage.versions = append(k.storage.versions, k)
	}
	return nil
}

// Kinds returns the stored kinds and their views, in the order of their files. The caller must not
// modify the slice.
func (c *Catalog) Kinds() []*Kind { return c.kinds }

// Unstored returns a kind whose objects are sent and received but never stored, such as a review.
// It returns nil if there is no such kind.
func (c *Catalog) Unstored(apiVersion, kind string) *Kind {
	i := slices.IndexFunc(c.unstored, func(k *Kind) bool { return k.APIVersion == apiVersion && k.Kind == kind })
	if i < 0 {
		return nil
	}
	return c.unstored[i]
}

// Kind returns the kind served at a prefix and plural, such as ("/api/v1", "pods"), or nil.
func (c *Catalog) Kind(prefix, plural string) *Kind { return c.byRoute[prefix+"/"+plural] }

// Stored returns the kind whose objects are stored under a resource, which is the first part of
// their keys. It returns nil if there is no such kind.
func (c *Catalog) Stored(resource string) *Kind {
	return c.stored[resource]
}

// Message returns the message with a name such as DeleteOptions, compiled without contexts, or nil.
func (c *Catalog) Message(name string) *Message { return c.messages[name] }

// Formats returns the string formats as their file defines them. The caller must not modify the
// map.
func (c *Catalog) Formats() map[string]FormatSpec { return c.formats }

// sources is the parsed content of the files.
type sources struct {
	kinds    []kindFile
	messages map[string]messageSource
	formats  map[string]FormatSpec
	scalars  map[string]ScalarSpec

	stored  map[string]*KindSpec // kinds that are no views, by the resource of their objects
	grouped map[string]bool      // messages that name the group of their kind, in themselves or below
}

type kindFile struct {
	name string
	spec *KindSpec
}

type messageSource struct {
	file string
	spec *MessageSpec
}

func readSources(files fs.FS) (*sources, error) {
	src := &sources{
		messages: map[string]messageSource{},
		formats:  map[string]FormatSpec{},
		scalars:  map[string]ScalarSpec{},
	}
	names, err := yamlFiles(files, "types")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var spec typesSpec
		if err := readSpec(files, name, &spec); err != nil {
			return nil, err
		}
		if err := src.addTypes(name, &spec); err != nil {
			return nil, err
		}
	}
	if names, err = yamlFiles(files, "."); err != nil {
		return nil, err
	}
	for _, name := range names {
		spec := &KindSpec{}
		if err := readSpec(files, name, spec); err != nil {
			return nil, err
		}
		if err := src.addMessages(name, spec.Messages); err != nil {
			return nil, err
		}
		src.kinds = append(src.kinds, kindFile{name, spec})
	}
	return src, nil
}

func (s *sources) addTypes(file string, spec *typesSpec) error {
	for name, f := range spec.Formats {
		if _, dup := s.formats[name]; dup {
			return fmt.Errorf("%s: format %s is defined twice", file, name)
		}
		s.formats[name] = f
	}
	for name, scalar := range spec.Scalars {
		s.scalars[name] = scalar
	}
	return s.addMessages(file, spec.Messages)
}

func (s *sources) addMessages(file string, messages messageSpecs) error {
	for _, m := range messages {
		if other, dup := s.messages[m.name]; dup {
			return fmt.Errorf("%s: message %s is also defined in %s", file, m.name, other.file)
		}
		s.messages[m.name] = messageSource{file, m.spec}
	}
	return nil
}

func yamlFiles(files fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, fmt.Errorf("read schema files: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".yaml") {
			names = append(names, path.Join(dir, e.Name()))
		}
	}
	slices.Sort(names)
	return names, nil
}
