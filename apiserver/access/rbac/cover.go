package rbac

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

const (
	// maxCombinations limits the combinations of verbs, groups, resources, names and paths that one
	// check examines. A rule that a single held rule covers counts as one combination, so that only
	// unusual roles reach the limit.
	maxCombinations = 10_000
	// maxComparisons limits the comparisons of the wanted rules and their combinations with the
	// held rules to less than a second of work.
	maxComparisons = 200_000_000
	// maxDescribed limits the number of lines in a refusal.
	maxDescribed = 100
)

// atom is one combination of a rule's lists. An atom with a path has no group and no resource.
type atom struct{ group, resource, name, path, verb string }

// missing returns the combinations of the wanted rules that no held rule covers (J30). tooMany
// reports that there are more combinations than the limits allow to examine.
func missing(held, wanted []rule) (atoms []atom, tooMany bool) {
	texts := 1
	for i := range held {
		texts += held[i].size()
	}
	combinations, comparisons := maxCombinations, maxComparisons/texts
	for i := range wanted {
		w := &wanted[i]
		if comparisons -= w.size(); comparisons < 0 {
			return nil, true
		}
		covered, n := slices.ContainsFunc(held, func(h rule) bool { return h.covers(w) }), 1
		if !covered {
			n = w.combinations(min(combinations, comparisons))
			comparisons -= n
		}
		if combinations -= n; min(combinations, comparisons) < 0 {
			return nil, true
		}
		if covered {
			continue
		}
		for a := range w.atoms() {
			if !slices.ContainsFunc(held, func(h rule) bool { return h.coversAtom(&a) }) {
				atoms = append(atoms, a)
			}
		}
	}
	return atoms, false
}

// covers reports whether the rule alone covers every combination of o.
func (r *rule) covers(o *rule) bool {
	if !holdsAll(r.verbs, o.verbs) {
		return false
	}
	if len(o.paths) > 0 {
		return !slices.ContainsFunc(o.paths, func(path string) bool { return !r.coversPaths(path) })
	}
	return holdsAll(r.groups, o.groups) &&
		!slices.ContainsFunc(o.resources, func(resource string) bool { return !r.coversResource(resource) }) &&
		(len(r.names) == 0 || len(o.names) > 0 && r.hasNames(o.names))
}

func (r *rule) coversAtom(a *atom) bool {
	if !holds(r.verbs, a.verb) {
		return false
	}
	if a.path != "" {
		return r.coversPaths(a.path)
	}
	return holds(r.groups, a.group) && r.coversResource(a.resource) &&
		(len(r.names) == 0 || a.name != "" && slices.Contains(r.names, a.name))
}

// coversPaths reports whether the rule covers a path in the form in which rules list it: literal,
// or with a trailing star.
func (r *rule) coversPaths(listed string) bool {
	prefix, open := strings.CutSuffix(listed, everything)
	return slices.ContainsFunc(r.paths, func(own string) bool {
		ownPrefix, ownOpen := strings.CutSuffix(own, everything)
		if open && ownOpen {
			return strings.HasPrefix(prefix, ownPrefix)
		}
		return own == listed || !open && coversPath(own, listed)
	})
}

// coversResource reports whether the rule covers a resource in a form in which rules list it:
// "pods", "pods/status", "*/status" or "*".
func (r *rule) coversResource(listed string) bool {
	_, sub, below := strings.Cut(listed, "/")
	return slices.ContainsFunc(r.resources, func(own string) bool {
		return own == everything || own == listed || below && own == everything+"/"+sub
	})
}

// hasNames reports whether the rule lists all of the names. Names cannot contain patterns (J18).
func (r *rule) hasNames(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(r.names, name) })
}

func holdsAll(list, wanted []string) bool {
	return slices.Contains(list, everything) ||
		!slices.ContainsFunc(wanted, func(s string) bool { return !slices.Contains(list, s) })
}

// size returns the number of strings in the rule, plus one.
func (r *rule) size() int {
	return 1 + len(r.verbs) + len(r.groups) + len(r.resources) + len(r.names) + len(r.paths)
}

// combinations returns the number of combinations of the rule. If there are more than limit, it
// returns some number above limit.
func (r *rule) combinations(limit int) int {
	n := len(r.verbs)
	factors := []int{len(r.groups), len(r.resources), max(len(r.names), 1)}
	if len(r.paths) > 0 {
		factors = []int{len(r.paths)}
	}
	for _, factor := range factors {
		if n > limit {
			return n
		}
		n *= factor
	}
	return n
}

// atoms yields the combinations of the rule.
func (r *rule) atoms() iter.Seq[atom] {
	return func(yield func(a atom) bool) {
		for _, verb := range r.verbs {
			for _, path := range r.paths {
				if !yield(atom{path: path, verb: verb}) {
					return
				}
			}
			if len(r.paths) == 0 && !r.resourceAtoms(verb, yield) {
				return
			}
		}
	}
}

func (r *rule) resourceAtoms(verb string, yield func(a atom) bool) bool {
	names := r.names
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range r.groups {
		for _, resource := range r.resources {
			for _, name := range names {
				if !yield(atom{group: group, resource: resource, name: name, verb: verb}) {
					return false
				}
			}
		}
	}
	return true
}

// about returns the rule, limited to the resources or paths of the given combinations.
func (r *rule) about(atoms []atom) rule {
	cut := rule{verbs: r.verbs, groups: r.groups, names: r.names}
	for _, a := range atoms {
		switch {
		case a.path == "" && !slices.Contains(cut.resources, a.resource):
			cut.resources = append(cut.resources, a.resource)
		case a.path != "" && !slices.Contains(cut.paths, a.path):
			cut.paths = append(cut.paths, a.path)
		}
	}
	slices.Sort(cut.resources)
	slices.Sort(cut.paths)
	return cut
}

// describe formats combinations for a refusal, sorted, with one line for combinations that differ
// only in their verbs (J28).
func describe(atoms []atom) string {
	verbs := map[atom][]string{}
	for _, a := range atoms {
		about := a
		about.verb = ""
		if !slices.Contains(verbs[about], a.verb) {
			verbs[about] = append(verbs[about], a.verb)
		}
	}
	lines := make([]string, 0, len(verbs))
	for about, of := range verbs {
		lines = append(lines, about.describe(of))
	}
	slices.Sort(lines)
	if more := len(lines) - maxDescribed; more > 0 {
		lines = append(lines[:maxDescribed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (a *atom) describe(verbs []string) string {
	if a.path != "" {
		return fmt.Sprintf("{NonResourceURLs:[%q], Verbs:%q}", a.path, verbs)
	}
	name := ""
	if a.name != "" {
		name = fmt.Sprintf(", ResourceNames:[%q]", a.name)
	}
	return fmt.Sprintf("{APIGroups:[%q], Resources:[%q]%s, Verbs:%q}", a.group, a.resource, name, verbs)
}
