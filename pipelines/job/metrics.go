package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// Metrics are figures of a network on a population, by the keys of package
// metric, in its order. In JSON they are an object.
type Metrics []Metric

// A Metric is one figure: see metric.Table for what its key means.
type Metric struct {
	Key   string
	Value Float
}

// Get returns the figure of a key, NaN if there is none.
func (m Metrics) Get(key string) Float {
	for _, v := range m {
		if v.Key == key {
			return v.Value
		}
	}
	return NaN()
}

// MarshalJSON writes an object, its keys in order.
func (m Metrics) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, v := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(v.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(v.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// MarshalBeside writes document, which is a JSON object, with the metrics after
// its own members.
func (m Metrics) MarshalBeside(document any) ([]byte, error) {
	head, err := json.Marshal(document)
	if err != nil || len(m) == 0 {
		return head, err
	}
	tail, err := m.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return slices.Concat(bytes.TrimSuffix(head, []byte("}")), []byte(","), bytes.TrimPrefix(tail, []byte("{"))), nil
}

// UnmarshalBeside reads what MarshalBeside has written into document, a pointer,
// and into m the members with the keys.
func (m *Metrics) UnmarshalBeside(data []byte, document any, keys []string) error {
	if err := json.Unmarshal(data, document); err != nil {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	*m = nil
	for _, key := range keys {
		text, ok := members[key]
		if !ok {
			continue
		}
		v := Metric{Key: key}
		if err := json.Unmarshal(text, &v.Value); err != nil {
			return err
		}
		*m = append(*m, v)
	}
	return nil
}

// UnmarshalJSON reads an object, its keys in their order.
func (m *Metrics) UnmarshalJSON(data []byte) error {
	*m = nil
	d := json.NewDecoder(bytes.NewReader(data))
	token, err := d.Token()
	if err != nil || token == nil {
		return err
	}
	if token != json.Delim('{') {
		return errors.New("metrics are not an object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		v := Metric{Key: key.(string)}
		if err := d.Decode(&v.Value); err != nil {
			return err
		}
		*m = append(*m, v)
	}
	return nil
}
