// Package v1alpha1 has the first version of Sites, in which the page was a list of lines.
//
// +kubebuilder:object:generate=true
// +groupName=demo.example.com
package v1alpha1
