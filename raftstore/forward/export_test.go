package forward

// MaxWrites is the bound on writes under way, for tests that reach it.
const MaxWrites = maxWrites
