package fault

import "errors"

// Move returns the finding with its pointer changed by a function, and its hint's pointer too if there is one.
func (f Finding) Move(to func(pointer string) string) Finding {
	f.Pointer = to(f.Pointer)
	if f.Hint != nil && f.Hint.Pointer != "" {
		hint := *f.Hint
		hint.Pointer = to(hint.Pointer)
		f.Hint = &hint
	}
	return f
}

// Under returns a function that puts pointers below another one.
func Under(pointer string) func(string) string {
	return func(below string) string { return pointer + below }
}

// Move moves all findings of an InputError, in place. Any other error stays as it is.
func Move(err error, to func(pointer string) string) error {
	var input *InputError
	if errors.As(err, &input) {
		for i, f := range input.Findings {
			input.Findings[i] = f.Move(to)
		}
	}
	return err
}
