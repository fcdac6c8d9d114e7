package auth

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	impersonatePrefix = "Impersonate-"
	impersonateUser   = impersonatePrefix + "User"
	impersonateGroup  = impersonatePrefix + "Group"
	impersonateUID    = impersonatePrefix + "Uid"
	impersonateExtra  = impersonatePrefix + "Extra-"

	verbImpersonate = "impersonate"
	// identityGroup is the API group of uids and extras in roles, as in Kubernetes.
	identityGroup = "authentication.k8s.io"
)

// Impersonation is a request to act as another user (J12).
type Impersonation struct {
	// User is the user that the request is served as.
	User *User
	// Needs lists the requests that the sender must be allowed to perform in order to impersonate
	// User.
	Needs []Attributes
}

// Impersonates reports whether the headers request impersonation.
func Impersonates(h http.Header) bool {
	for name := range h {
		if strings.HasPrefix(name, impersonatePrefix) {
			return true
		}
	}
	return false
}

// ReadImpersonation parses the impersonation headers. An invalid header is never ignored, but
// returned as an error with a message for the client.
func ReadImpersonation(h http.Header) (*Impersonation, error) {
	if len(h[impersonateUser]) != 1 || h[impersonateUser][0] == "" {
		return nil, errors.New("impersonation needs one user, and its name")
	}
	if len(h[impersonateUID]) > 1 {
		return nil, errors.New("impersonation of more than one uid")
	}
	id := Identity{Name: h[impersonateUser][0], UID: h.Get(impersonateUID), Groups: h[impersonateGroup]}
	asked := &Impersonation{Needs: needs(&id)}
	extra, err := asked.readExtra(h)
	if err != nil {
		return nil, err
	}
	asked.User = newUser(id)
	asked.User.Extra = extra
	return asked, nil
}

// needs returns the requests that a sender must be allowed to perform in order to impersonate id.
// The groups that service accounts are in implicitly require no permission.
func needs(id *Identity) []Attributes {
	user := Attributes{Verb: verbImpersonate, Resource: "users", Name: id.Name}
	if namespace, name, ok := ServiceAccount(id.Name); ok {
		user.Resource, user.Namespace, user.Name = "serviceaccounts", namespace, name
	}
	all := []Attributes{user}
	for _, group := range id.Groups {
		all = append(all, Attributes{Verb: verbImpersonate, Resource: "groups", Name: group})
	}
	if id.UID != "" {
		all = append(all, Attributes{Verb: verbImpersonate, Group: identityGroup, Resource: "uids", Name: id.UID})
	}
	return all
}

// readExtra parses the headers of extras and adds the permissions that they require.
func (i *Impersonation) readExtra(h http.Header) (map[string][]string, error) {
	var extra map[string][]string
	for name, values := range h {
		if !strings.HasPrefix(name, impersonatePrefix) || slices.Contains([]string{impersonateUser, impersonateGroup, impersonateUID}, name) {
			continue
		}
		key, isExtra := strings.CutPrefix(name, impersonateExtra)
		key, err := url.PathUnescape(strings.ToLower(key))
		if !isExtra || err != nil || key == "" {
			return nil, errors.New("there is no header " + name)
		}
		if extra == nil {
			extra = map[string][]string{}
		}
		extra[key] = append(extra[key], values...)
		for _, value := range values {
			i.Needs = append(i.Needs, Attributes{
				Verb: verbImpersonate, Group: identityGroup, Resource: "userextras", Subresource: key, Name: value,
			})
		}
	}
	return extra, nil
}
