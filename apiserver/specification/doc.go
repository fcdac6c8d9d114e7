// Package specification holds TestSpecification: one subtest for each rule, field table, operation
// and parameter of the specification, and for each row of the semantics, by its id, against a
// running server.
//
// rows.tsv is the one table of rows: an id, a tab and the rule in words. ROWS.md presents it to
// readers and is generated from it. Each row has a test, or a reason in LEFT_OUT.md: a row with
// neither fails TestSpecification, as do a test of an id that the table lacks and a row without a
// rule.
//
// testdata/authorization.txt is the authorization matrix: the code of each operation for each role,
// which TestAuthorizationMatrix compares with a model of the roles, on the leader and a follower.
package specification

//go:generate go run ./internal/page
