// Package kinds contains the resource API as data: one YAML file per kind in this folder, and the
// messages, formats and scalars that several kinds share in types. Package schema compiles the
// files; README.md explains their keys and how to add a kind.
package kinds
