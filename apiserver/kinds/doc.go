// Package kinds holds the resource API as data: one YAML file per kind in this folder, the
// messages, formats and scalars they share under types/. Package schema compiles them; README.md
// explains the keys. To add a kind is to add a file.
package kinds
