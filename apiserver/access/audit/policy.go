package audit

import (
	"slices"
	"strings"

	"quorate/apiserver/access/auth"
)

// Level is how much is recorded of a request. Each level includes the ones before it.
type Level uint8

// The levels.
const (
	None            Level = iota
	Metadata              // who did what, when, and the outcome
	Request               // the object or patch that was sent as well
	RequestResponse       // and the object that was returned
)

func levelNames() []string { return []string{"None", "Metadata", "Request", "RequestResponse"} }

func (l Level) String() string { return levelNames()[l] }

// Stage is a moment of a request at which an event may be emitted.
type Stage uint8

// The stages.
const (
	RequestReceived  Stage = iota // before the request is authorized
	ResponseStarted               // when the header of a watch is sent
	ResponseComplete              // when the response has been sent, and nothing more follows
	Panic                         // instead of ResponseComplete, when the handler panicked
)

func stageNames() []string {
	return []string{"RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"}
}

func (s Stage) String() string { return stageNames()[s] }

// stages is a set of stages.
type stages uint8

func (s stages) with(stage Stage) stages { return s | 1<<stage }
func (s stages) has(stage Stage) bool    { return s&(1<<stage) != 0 }

// Policy is a list of rules. It never changes.
type Policy struct {
	rules       []rule
	omit        stages
	omitManaged bool
}

// rule matches requests; an empty list matches all. A rule with resources or namespaces matches no
// other paths, one with paths no resources.
type rule struct {
	level             Level
	users, groups     []string
	verbs, namespaces []string
	resources         []resources
	paths             []string // a last * matches the rest
	omit              stages
	omitManaged       *bool // instead of the policy's, if not nil
}

// resources are kinds of one group, also in requests that use another group for the same objects:
// PLURAL, PLURAL/SUBRESOURCE, PLURAL/*, */SUBRESOURCE or *, all if there are none; and of these the
// objects with the names, all if there are none.
type resources struct {
	group         string
	plurals       []string
	resourceNames []string
}

// Decision is what a policy says about a request.
type Decision struct {
	Level       Level
	omit        stages
	omitManaged bool // leave metadata.managedFields out of bodies
}

// Emits reports whether an event is emitted at a stage.
func (d Decision) Emits(s Stage) bool { return d.Level != None && !d.omit.has(s) }

// Decide applies the first rule that matches. A request that no rule matches is not recorded. User
// is who sent the request, nil if nobody knows; rules with users or groups do not match then.
func (p *Policy) Decide(user *auth.User, a *auth.Attributes) Decision {
	for i := range p.rules {
		if r := &p.rules[i]; r.matches(user, a) {
			d := Decision{Level: r.level, omit: p.omit | r.omit, omitManaged: p.omitManaged}
			if r.omitManaged != nil {
				d.omitManaged = *r.omitManaged
			}
			return d
		}
	}
	return Decision{}
}

func (r *rule) matches(user *auth.User, a *auth.Attributes) bool {
	if len(r.users) > 0 && (user == nil || !slices.Contains(r.users, user.Name)) {
		return false
	}
	if len(r.groups) > 0 && (user == nil || !slices.ContainsFunc(r.groups, user.In)) {
		return false
	}
	if len(r.verbs) > 0 && !slices.Contains(r.verbs, a.Verb) {
		return false
	}
	switch {
	case len(r.namespaces) > 0 || len(r.resources) > 0:
		return a.Path == "" && r.matchesResource(a)
	case len(r.paths) > 0:
		return a.Path != "" && slices.ContainsFunc(r.paths, func(pattern string) bool { return pathMatches(pattern, a.Path) })
	}
	return true
}

func (r *rule) matchesResource(a *auth.Attributes) bool {
	if len(r.namespaces) > 0 && !slices.Contains(r.namespaces, a.Namespace) {
		return false
	}
	return len(r.resources) == 0 || slices.ContainsFunc(r.resources, func(of resources) bool { return of.match(a) })
}

func (r resources) match(a *auth.Attributes) bool {
	if r.group != a.Group && r.group != a.StoredGroup || len(r.resourceNames) > 0 && !slices.Contains(r.resourceNames, a.Name) {
		return false
	}
	return len(r.plurals) == 0 || slices.ContainsFunc(r.plurals, func(pattern string) bool { return pluralMatches(pattern, a) })
}

func pluralMatches(pattern string, a *auth.Attributes) bool {
	plural, subresource, hasSubresource := strings.Cut(pattern, "/")
	switch {
	case pattern == "*":
		return true
	case !hasSubresource:
		return a.Subresource == "" && plural == a.Resource
	case plural == "*":
		return subresource == a.Subresource
	}
	return plural == a.Resource && (subresource == "*" || subresource == a.Subresource)
}

func pathMatches(pattern, path string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(path, prefix)
	}
	return pattern == path
}

// sensitive reports whether bodies of a request hold secrets or tokens.
func sensitive(a *auth.Attributes) bool {
	switch a.Resource {
	case "secrets", "tokenreviews", "oauthclients", "oauthaccesstokens", "oauthauthorizetokens":
		return true
	}
	return a.Subresource == "token"
}
