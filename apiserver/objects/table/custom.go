package table

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/util/jsonpath"

	"quorate/apiserver/objects/schema"
)

// The types of columns that only custom kinds have.
const (
	typeNumber = "number"
	typeDate   = "date"
)

// customColumn is a column of a custom kind. Its path is evaluated by the library that stock
// clients and servers use, which decides what the expressions of existing definitions mean.
type customColumn struct {
	column schema.CustomColumn
	paths  sync.Pool // of *jsonpath.JSONPath, which cannot be used concurrently
}

// newCustom returns the table of a custom kind: the name, and the columns of its definition, which
// are the age if it has none.
func newCustom(k *schema.Kind) (*Table, error) {
	t := &Table{kind: k}
	name := nameAndAge()[0]
	specs := []schema.ColumnSpec{name}
	columns := k.CustomColumns()
	if len(columns) == 0 {
		columns = []schema.CustomColumn{{
			Name: "Age", Type: typeDate, Description: nameAndAge()[1].Description, JSONPath: ".metadata.creationTimestamp",
		}}
	}
	for _, c := range columns {
		if _, err := parsePath(&c); err != nil {
			return nil, fmt.Errorf("kind %s in %s: column %s: %w", k.Kind, k.Prefix, c.Name, err)
		}
		t.custom = append(t.custom, &customColumn{column: c})
		t.ages = t.ages || c.Type == typeDate
		about := c.Description
		if about == "" {
			about = "Custom resource definition column (in JSONPath format): " + c.JSONPath
		}
		specs = append(specs, schema.ColumnSpec{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: about, Priority: c.Priority,
		})
	}
	first, err := compile(&name, k.Message.Type(), nil)
	if err != nil {
		return nil, err
	}
	t.columns = []column{first}
	t.definitions = appendDefinitions(nil, specs)
	return t, nil
}

func parsePath(c *schema.CustomColumn) (*jsonpath.JSONPath, error) {
	path := jsonpath.New(c.Name).AllowMissingKeys(true)
	return path, path.Parse("{" + c.JSONPath + "}")
}

// appendCustom appends the cells of the columns of a custom kind's definition.
func (t *Table) appendCustom(b, value []byte, now time.Time) ([]byte, error) {
	if len(t.custom) == 0 {
		return b, nil
	}
	served, err := t.kind.Present(value)
	if err != nil {
		return b, err
	}
	object := map[string]any{}
	if err := json.Unmarshal(served, &object); err != nil {
		return b, fmt.Errorf("read a stored object: %s", err.Error()) // not wrapped: not the client's fault
	}
	for _, c := range t.custom {
		if b, err = c.append(append(b, ','), object, now); err != nil {
			return b, err
		}
	}
	return b, nil
}

// append appends a cell. A value that is missing, or not of the column's type, is null.
func (c *customColumn) append(b []byte, object map[string]any, now time.Time) ([]byte, error) {
	path, pooled := c.paths.Get().(*jsonpath.JSONPath)
	if !pooled {
		var err error
		if path, err = parsePath(&c.column); err != nil {
			return b, err
		}
	}
	results, err := path.FindResults(object)
	if err != nil { // the object is not what the path expects; the path is in an undefined state
		return append(b, "null"...), nil
	}
	defer c.paths.Put(path)
	if len(results) == 0 || len(results[0]) == 0 {
		return append(b, "null"...), nil
	}
	value := results[0][0].Interface()
	if c.column.Type == typeString {
		var text bytes.Buffer
		if err := path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}); err != nil {
			return append(b, "null"...), nil
		}
		return schema.AppendString(b, text.String()), nil
	}
	return appendTyped(b, c.column.Type, value, now), nil
}

func appendTyped(b []byte, columnType string, value any, now time.Time) []byte {
	switch v := value.(type) {
	case bool:
		if columnType == typeBoolean {
			return strconv.AppendBool(b, v)
		}
	case int64:
		if columnType == typeInteger || columnType == typeNumber {
			return strconv.AppendInt(b, v, 10)
		}
	case float64:
		switch columnType {
		case typeInteger:
			return strconv.AppendInt(b, int64(v), 10)
		case typeNumber:
			return strconv.AppendFloat(b, v, 'g', -1, 64)
		}
	case string:
		if columnType == typeDate {
			return appendAge(b, v, now)
		}
	}
	return append(b, "null"...)
}

// appendAge appends how long a time is ago.
func appendAge(b []byte, text string, now time.Time) []byte {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return append(b, `"<invalid>"`...)
	}
	return schema.AppendString(b, duration.HumanDuration(now.Sub(at)))
}
