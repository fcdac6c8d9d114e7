// Package console serves the web console at /console/: static files that are embedded in the binary.
//
// The files need no credentials and contain no data. A browser runs them, and they request every
// datum from the API of the same node, with the bearer token or the client certificate of the user.
// So nobody sees in the console what the API would refuse, and this package decides nothing.
//
// The files are HTML, CSS and JavaScript modules as browsers take them, without a framework and
// without a build step: Go alone builds and tests the whole server, what is reviewed is what runs,
// and no dependency of a second language has to be kept free of vulnerabilities. The API does
// the work that would need libraries: it renders Tables, and reads and writes YAML.
//
// Every answer carries a Content-Security-Policy that lets a page load only files of this node, run
// no inline script, and be framed by nobody. It also requires Trusted Types and allows none, so the
// code cannot turn text of an object into markup.
//
// A file is a constant in memory: it costs what /version costs, passes the same checks and takes a
// seat like it. The package has no goroutines, and its functions are safe for concurrent use.
package console
