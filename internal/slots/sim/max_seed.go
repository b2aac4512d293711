package sim

// MaxSeed is the largest seed: every reader of JSON keeps it.
const MaxSeed = 1<<53 - 1
