// Package sql has the generic part of the standard package database/sql.
package sql

import (
	"database/sql/driver"

	"gocuda/kernel/golang/host/generic/plain"
)

// Null is a value that may be null.
type Null[T any] struct {
	V     T
	Valid bool
}

// Scan implements Scanner.
func (n *Null[T]) Scan(value any) error {
	if value == nil {
		n.V, n.Valid = *new(T), false
		return nil
	}
	n.Valid = true
	return plain.Assign(&n.V, value)
}

// Value implements driver.Valuer.
func (n Null[T]) Value() (driver.Value, error) {
	if !n.Valid {
		return nil, nil
	}
	v := any(n.V)
	if valuer, ok := v.(driver.Valuer); ok {
		return valuer.Value()
	}
	return v, nil
}
