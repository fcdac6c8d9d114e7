package v1alpha1

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/conversion"

	sitev1 "quorate/chaos/clients/operator/api/v1"
)

// GroupVersion is the group and version of this package's kinds.
var GroupVersion = schema.GroupVersion{Group: "demo.example.com", Version: "v1alpha1"}

// AddToScheme adds this package's kinds to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// Site is a web page that some replicas serve.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   SiteSpec          `json:"spec"`
	Status sitev1.SiteStatus `json:"status,omitempty"`
}

// SiteSpec is what a user asks for.
type SiteSpec struct {
	// Lines are what the site shows.
	Lines []string `json:"lines"`
	// Size is the number of pods.
	// +kubebuilder:default=1
	Size int32 `json:"size"`
	// +optional
	Host string `json:"host,omitempty"`
}

// SiteList is a list of Sites.
//
// +kubebuilder:object:root=true
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Site `json:"items"`
}

// ConvertTo converts the Site to v1.
func (s *Site) ConvertTo(hub conversion.Hub) error {
	to, ok := hub.(*sitev1.Site)
	if !ok {
		return fmt.Errorf("convert a Site to %T", hub)
	}
	to.ObjectMeta, to.Status = s.ObjectMeta, s.Status
	to.Spec = sitev1.SiteSpec{Page: strings.Join(s.Spec.Lines, "\n"), Replicas: s.Spec.Size, Host: s.Spec.Host}
	return nil
}

// ConvertFrom makes the Site that of v1.
func (s *Site) ConvertFrom(hub conversion.Hub) error {
	from, ok := hub.(*sitev1.Site)
	if !ok {
		return fmt.Errorf("convert %T to a Site", hub)
	}
	s.ObjectMeta, s.Status = from.ObjectMeta, from.Status
	s.Spec = SiteSpec{Lines: strings.Split(from.Spec.Page, "\n"), Size: from.Spec.Replicas, Host: from.Spec.Host}
	return nil
}
