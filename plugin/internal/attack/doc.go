// Package attack attacks the binary from outside, with clients and hosts of its own:
// its tests are all there is. go test runs a bounded part of each; "make attack" all
// of it, in some minutes:
//
//	make attack SEED=1234
//
// What is random comes from one seed, which each test prints and SEED repeats. Tests
// of one reader, with bytes made for it, are in arrowio and arrowio/batch.
package attack
