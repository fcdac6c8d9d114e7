// Package specification contains TestSpecification, which checks a running server. It has one
// subtest, named by its id, for each rule, field table, operation and parameter of the
// specification, and for each row of the semantics.
//
// rows.tsv is the one table of rows: an id, a tab and the rule in words. ROWS.md presents it to
// readers and is generated from it. Each row has a test, or a reason in LEFT_OUT.md.
// TestSpecification fails for a row with neither, for a row without a rule, and for a test whose id
// the table lacks.
//
// testdata/authorization.txt is the authorization matrix: the code of each operation for each role.
// TestAuthorizationMatrix compares it with a model of the roles, on the leader and a follower.
package specification

//go:generate go run ./internal/page
