// Package reference judges the documents of package openapi by public validators, and by what stock clients read out of them. It is
// a module of its own to keep those out of what ships; it has tests only.
package reference
