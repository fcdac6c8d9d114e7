package auth

import "strings"

// serviceAccountPrefix starts the user names of service accounts. All of them are in the group
// serviceAccountsGroup, and those of a namespace in that name followed by a colon and the namespace
// (J10).
const (
	serviceAccountPrefix = "system:serviceaccount:"
	serviceAccountsGroup = "system:serviceaccounts"
)

// ServiceAccountName returns the user name of a service account (J10).
func ServiceAccountName(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// serviceAccountGroups returns the groups of the service accounts of a namespace (J10).
func serviceAccountGroups(namespace string) []string {
	return []string{serviceAccountsGroup, serviceAccountsGroup + ":" + namespace}
}

// ServiceAccount splits the user name of a service account; ok is false for other users.
func ServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && namespace != "" && name != "" && !strings.Contains(name, ":")
}
