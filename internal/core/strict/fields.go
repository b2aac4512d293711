package strict

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"
)

// Fields reads an object into a struct, by the names of its fields in JSON.
func (r *Reader) Fields(s *Shape, into any) Given {
	return r.Object(s, func(name string) { r.Field(into, name) })
}

// Field reads a value into the field of a struct that has a name in JSON. The field is a number, a text, a flag, a time,
// a type that reads itself, or a pointer to one of them. It serves small documents; long lists are read without
// reflection.
func (r *Reader) Field(into any, name string) {
	v := reflect.ValueOf(into).Elem()
	f := v.FieldByIndex(fieldsOf(v.Type())[name])
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		f = f.Elem()
	}
	switch x := f.Addr().Interface().(type) {
	case interface{ ReadStrictly(*Reader) }:
		x.ReadStrictly(r)
	case *float64:
		r.Float(x)
	case *int64:
		r.Whole(x)
	case *bool:
		r.Flag(x)
	case *string:
		*x, _ = r.Text()
	case *time.Time:
		r.Moment(x)
	default:
		panic(fmt.Sprintf("no value of the type %T can be read by itself", x))
	}
}

// fields holds the fields of the types that were read, by their names in JSON.
var fields sync.Map

func fieldsOf(t reflect.Type) map[string][]int {
	if known, ok := fields.Load(t); ok {
		return known.(map[string][]int)
	}
	all := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		all[name] = f.Index
	}
	fields.Store(t, all)
	return all
}
