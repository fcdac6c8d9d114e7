// Package parameter declares the query parameters of requests in one table: the name, type, values
// and description of each, the verbs that read it and the verbs whose operations document it.
// Package route reads queries by this table, and package openapi writes the parameters of
// operations from it.
//
// To add a parameter, add its row to table.go and read it by its name where the verb needs it.
package parameter
