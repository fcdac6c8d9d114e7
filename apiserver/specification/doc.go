// Package specification holds TestSpecification: one subtest for each rule, field table, operation and parameter of the
// specification, and for each row of the semantics, by its id, against a running server. testdata/rows.tsv lists them all;
// LEFT_OUT.md those that are left out, with their reasons. A row that is neither fails the test.
package specification
