// Command upstream runs the test suites of Kubernetes itself against a cluster of three nodes, and
// writes a table of what passed. `make clients-upstream` runs it.
//
//   - The end-to-end tests of API machinery (test/e2e/apimachinery), in a binary that the nested
//     module suites builds from the pinned release.
//   - The shell tests of kubectl (test/cmd), with the kubectl of the same release.
//
// Beside the nodes run controllers of kube-controller-manager of the same release, as they do in
// upstream's own set-up, and for the end-to-end tests a stand-in for kubelets and services (command
// suites/node), which runs the pods that serve webhooks as processes. For their names the nodes have
// a table of hosts of their own, which takes root or the right to make user namespaces.
//
// Tests run on one node after the other. The file expected.tsv says which don't pass, and why;
// those of them that would only wait for pods don't run. The command exits with 1 if a test fails
// that is not listed, and says which listed ones pass.
//
//	go run ./chaos/upstream -suite kubectl -only 'apply|diff' # some, by name
//
// CI doesn't run it, because building the tests takes a quarter of an hour; its own tests check
// that results are read and judged as the table says.
package main
