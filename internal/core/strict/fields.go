package strict

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/core/fault"
)

// Fields reads an object into a struct, by the names of its fields in JSON.
func (r *Reader) Fields(s *Shape, into any) Given {
	return r.Object(s, func(name string) { r.Field(into, name) })
}

// Field reads a value into the field of a struct that has a name in JSON. It serves small documents; long lists are
// read without reflection.
func (r *Reader) Field(into any, name string) {
	v := reflect.ValueOf(into).Elem()
	r.into(v.FieldByIndex(fieldsOf(v.Type())[name]))
}

// Tagged reads a value of any type into what a pointer points at. All members of its structs may be left out.
func (r *Reader) Tagged(into any) { r.into(reflect.ValueOf(into).Elem()) }

func (r *Reader) into(v reflect.Value) {
	if special, ok := v.Addr().Interface().(interface{ ReadStrictly(*Reader) }); ok {
		special.ReadStrictly(r)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.into(v.Elem())
	case reflect.String:
		if text, ok := r.Text(); ok {
			v.SetString(text)
		}
	case reflect.Float64:
		var x float64
		r.Float(&x)
		v.SetFloat(x)
	case reflect.Int, reflect.Int64:
		var n int64
		r.Whole(&n)
		v.SetInt(n)
	case reflect.Uint64:
		var n int64
		if r.Whole(&n); n < 0 && n != Unread {
			r.Found("range", fmt.Sprintf("%d is negative; give a whole number from 0 on.", n), nil)
		}
		v.SetUint(uint64(max(n, 0)))
	case reflect.Bool:
		x := v.Bool()
		r.Flag(&x)
		v.SetBool(x)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		if r.opens('[', "an array") {
			r.Array("", func(int) {
				v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
				r.into(v.Index(v.Len() - 1))
			})
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		r.members(func(name string) bool {
			item := reflect.New(v.Type().Elem()).Elem()
			r.into(item)
			v.SetMapIndex(reflect.ValueOf(name), item)
			return true
		})
	default: // a struct
		r.structure(v)
	}
}

func (r *Reader) structure(v reflect.Value) {
	if at, ok := v.Addr().Interface().(*time.Time); ok {
		r.Moment(at)
		return
	}
	known := fieldsOf(v.Type())
	r.members(func(name string) bool {
		index, ok := known[name]
		if ok {
			r.into(v.FieldByIndex(index))
		} else {
			r.Found("unknown_member", fmt.Sprintf("There is no member %q here.", fault.Clip(name)), fault.DidYouMean(name, slices.Sorted(maps.Keys(known))))
			r.Skip()
		}
		return ok
	})
}

// members reads an object whose members are each given once.
func (r *Reader) members(read func(name string) bool) {
	if !r.opens('{', "an object") {
		return
	}
	seen := map[string]bool{}
	r.Members("", func(key []byte) {
		name := string(key)
		r.Enter(name)
		if seen[name] {
			r.Twice(name)
			r.Skip()
		} else {
			seen[name] = read(name)
		}
		r.Leave()
	})
}

func (r *Reader) opens(bracket byte, want string) bool {
	if r.Space() == bracket {
		return true
	}
	r.WrongType(want)
	return false
}

// fields holds the fields of the types that were read, by their names in JSON.
var fields sync.Map

func fieldsOf(t reflect.Type) map[string][]int {
	if known, ok := fields.Load(t); ok {
		return known.(map[string][]int)
	}
	all := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			all[name] = f.Index
		}
	}
	fields.Store(t, all)
	return all
}
