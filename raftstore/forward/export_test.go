package forward

// MaxWrites exports the bound on pending writes to the tests.
const MaxWrites = maxWrites
