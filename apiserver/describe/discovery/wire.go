package discovery

// The discovery documents. Their members are written in the order of the fields.

type apiVersions struct {
	Kind            string          `json:"kind"`
	Versions        []string        `json:"versions"`
	ServerAddresses []serverAddress `json:"serverAddressByClientCIDRs"`
}

type serverAddress struct {
	ClientCIDR    string `json:"clientCIDR"`
	ServerAddress string `json:"serverAddress"`
}

type groupList struct {
	Kind       string  `json:"kind"`
	APIVersion string  `json:"apiVersion"`
	Groups     []group `json:"groups"`
}

type group struct {
	Kind             string         `json:"kind,omitempty"`
	APIVersion       string         `json:"apiVersion,omitempty"`
	Name             string         `json:"name"`
	Versions         []groupVersion `json:"versions"`
	PreferredVersion groupVersion   `json:"preferredVersion"`
}

type groupVersion struct {
	GroupVersion string `json:"groupVersion"`
	Version      string `json:"version"`
}

type resourceList struct {
	Kind         string     `json:"kind"`
	APIVersion   string     `json:"apiVersion"`
	GroupVersion string     `json:"groupVersion"`
	Resources    []resource `json:"resources"`
}

type resource struct {
	Name         string   `json:"name"`
	SingularName string   `json:"singularName"`
	Namespaced   bool     `json:"namespaced"`
	Group        string   `json:"group,omitempty"` // of the kind, if it differs from the list's
	Version      string   `json:"version,omitempty"`
	Kind         string   `json:"kind"`
	Verbs        []string `json:"verbs"`
	ShortNames   []string `json:"shortNames,omitempty"`
	Categories   []string `json:"categories,omitempty"`

	StorageVersionHash string `json:"storageVersionHash,omitempty"`
}

// wholeList is the aggregated document: all groups with all of their resources (L9).
type wholeList struct {
	Kind       string       `json:"kind"`
	APIVersion string       `json:"apiVersion"`
	Metadata   struct{}     `json:"metadata"`
	Items      []wholeGroup `json:"items"`
}

type wholeGroup struct {
	Metadata wholeMetadata  `json:"metadata"`
	Versions []wholeVersion `json:"versions"`
}

// wholeMetadata is the metadata of an item that has only a name.
type wholeMetadata struct {
	Name              string    `json:"name,omitempty"`
	CreationTimestamp *struct{} `json:"creationTimestamp"`
}

type wholeVersion struct {
	Version   string          `json:"version"`
	Resources []wholeResource `json:"resources"`
	Freshness string          `json:"freshness"`
}

type wholeResource struct {
	Resource         string             `json:"resource"`
	ResponseKind     groupVersionKind   `json:"responseKind"`
	Scope            string             `json:"scope"`
	SingularResource string             `json:"singularResource"`
	Verbs            []string           `json:"verbs"`
	ShortNames       []string           `json:"shortNames,omitempty"`
	Categories       []string           `json:"categories,omitempty"`
	Subresources     []wholeSubresource `json:"subresources,omitempty"`
}

type wholeSubresource struct {
	Subresource  string           `json:"subresource"`
	ResponseKind groupVersionKind `json:"responseKind"`
	Verbs        []string         `json:"verbs"`
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}
