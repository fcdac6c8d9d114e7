package auth

import "strings"

// User names of service accounts begin with serviceAccountPrefix. All service accounts are in the
// group serviceAccountsGroup; those of a namespace are also in the group whose name is
// serviceAccountsGroup, a colon and the namespace (J10).
const (
	serviceAccountPrefix = "system:serviceaccount:"
	serviceAccountsGroup = "system:serviceaccounts"
)

// ServiceAccountName returns the user name of a service account (J10).
func ServiceAccountName(namespace, name string) string {
	return serviceAccountPrefix + namespace + ":" + name
}

// serviceAccountGroups returns the groups of service accounts in a namespace (J10).
func serviceAccountGroups(namespace string) []string {
	return []string{serviceAccountsGroup, serviceAccountsGroup + ":" + namespace}
}

// ServiceAccount parses the user name of a service account. ok is false for other users.
func ServiceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, serviceAccountPrefix)
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(rest, ":")
	return namespace, name, ok && namespace != "" && name != "" && !strings.Contains(name, ":")
}
