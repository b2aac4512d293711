package sim

import "example.org/headroom/internal/core/strict"

// Read reads and checks an input. Its errors are *fault.InputError.
func Read(data []byte) (Input, error) {
	in, err := Decode(data)
	if err == nil {
		err = Validate(in)
	}
	return in, err
}

// Decode is Read without checking the values.
func Decode(data []byte) (in Input, err error) {
	err = decode(data, &in)
	return in, err
}

// DecodePolicy reads a policy alone.
func DecodePolicy(data []byte) (p Policy, err error) {
	err = decode(data, &p)
	return p, err
}

func decode(data []byte, into any) error {
	r := strict.NewReader(data)
	r.Tagged(into)
	r.End()
	return r.Result(func(*strict.Checker) {})
}
