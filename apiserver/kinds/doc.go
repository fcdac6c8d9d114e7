// Package kinds contains the resource API as data: one YAML file per kind in this folder, and the
// shared messages, formats and scalars under types/. Package schema compiles them; README.md
// explains the keys. To add a kind is to add a file.
package kinds
