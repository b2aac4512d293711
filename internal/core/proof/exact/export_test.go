package exact

// Fractions makes all numbers fractions of math/big from now on, or those alone that do not fit.
func Fractions(all bool) { narrow = !all }
