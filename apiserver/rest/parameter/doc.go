// Package parameter declares the query parameters of requests in one table: the name, type, values
// and description of each parameter, the verbs that read the parameter, and the verbs whose
// operations document it. Package route reads queries according to the table, and package openapi
// generates the parameters of operations from it.
//
// To add a parameter, add a row to all_parameters.go and read the parameter in the verbs that
// need it.
package parameter
