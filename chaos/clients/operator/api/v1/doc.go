// Package v1 has the stored version of Sites.
//
// +kubebuilder:object:generate=true
// +groupName=demo.example.com
package v1
