// Package specification holds TestSpecification: one subtest for each rule, field table, operation
// and parameter of the specification, and for each row of the semantics, by its id, against a
// running server.
//
// rows.tsv is the one table of rows: an id, a tab and the rule in words. ROWS.md presents it to
// readers and is generated from it. Each row has a test, or a reason in LEFT_OUT.md: a row with
// neither fails TestSpecification, as do a test of an id that the table lacks and a row without a
// rule.
package specification

//go:generate go run ./internal/page
