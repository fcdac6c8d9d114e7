// Package specification contains TestSpecification, which checks running servers. Its rows are the
// rules, field tables, operations and parameters of the specification, and the rows of the
// semantics. Each subtest proves one row or several, and is named by their ids.
//
// rows.tsv is the one table of rows: an id, a tab and the rule in words. ROWS.md presents it to
// readers and is generated from it. Each row has either a test or a reason in LEFT_OUT.md.
// TestSpecification fails for a row with neither or both, for a row without a rule, and for a test
// whose id the table lacks.
//
// testdata/authorization.txt is the authorization matrix: the code of each operation for each
// subject. TestAuthorizationMatrix compares it with a model of the roles, on the leader and a
// follower.
package specification

//go:generate go run ./internal/page
