package attack

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A mutation changes recorded messages by their structure: fields of protobuf, words
// of FlatBuffers, lengths in bodies, keys of JSON.

// mutate returns the messages of a call with one to three changes. others are messages
// of other calls, to be put among them.
func mutate(rng *rand.Rand, messages, others [][]byte) [][]byte {
	m := slices.Clone(messages)
	for range 1 + rng.IntN(3) {
		if len(m) == 0 || rng.IntN(5) == 0 {
			m = shuffleMessages(rng, m, others)
			continue
		}
		i := rng.IntN(len(m))
		m[i] = mutateProto(rng, m[i], 0)
	}
	return m
}

// shuffleMessages drops, repeats, swaps, cuts off or puts in messages.
func shuffleMessages(rng *rand.Rand, m, others [][]byte) [][]byte {
	if len(m) == 0 {
		return [][]byte{others[rng.IntN(len(others))]}
	}
	i, j := rng.IntN(len(m)), rng.IntN(len(m))
	switch rng.IntN(6) {
	case 0:
		return slices.Delete(slices.Clone(m), i, i+1)
	case 1:
		return slices.Insert(slices.Clone(m), j, m[i])
	case 2:
		return slices.Insert(slices.Clone(m), j, slices.Repeat(m[i:i+1], 1+rng.IntN(50))...)
	case 3:
		m = slices.Clone(m)
		m[i], m[j] = m[j], m[i]
		return m
	case 4:
		return m[:i]
	}
	return slices.Insert(slices.Clone(m), j, others[rng.IntN(len(others))])
}

// A field is one of a message of protobuf.
type field struct {
	number protowire.Number
	kind   protowire.Type
	value  []byte // with its length, if it has one
}

func fieldsOf(b []byte) ([]field, bool) {
	var all []field
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, false
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return nil, false
		}
		all = append(all, field{number, kind, b[n : n+size]})
		b = b[n+size:]
	}
	return all, true
}

func (f field) append(b []byte) []byte {
	return append(protowire.AppendTag(b, f.number, f.kind), f.value...)
}

// Fields of FlightData.
const (
	headerField = 2
	bodyField   = 1000
)

// mutateProto changes a field of a message, or of one in it.
func mutateProto(rng *rand.Rand, b []byte, depth int) []byte {
	fields, ok := fieldsOf(b)
	if !ok || len(fields) == 0 || rng.IntN(40) == 0 {
		return damage(rng, b)
	}
	i := rng.IntN(len(fields))
	f := &fields[i]
	switch rng.IntN(24) {
	case 0:
		fields = slices.Delete(fields, i, i+1)
	case 1:
		fields = append(fields, *f)
	case 2:
		f.number = protowire.Number(1 + rng.IntN(1100))
	case 3:
		rng.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	case 4:
		f.kind = protowire.Type(rng.IntN(6))
	default:
		switch f.kind {
		case protowire.VarintType:
			f.value = protowire.AppendVarint(nil, oddNumber(rng))
		case protowire.BytesType:
			inside, _ := protowire.ConsumeBytes(f.value)
			f.value = protowire.AppendBytes(nil, mutateBytes(rng, f.number, inside, depth))
		default:
			f.value = damage(rng, f.value)
		}
	}
	var out []byte
	for _, f := range fields {
		out = f.append(out)
	}
	return out
}

// mutateBytes changes the bytes of a field by what they are.
func mutateBytes(rng *rand.Rand, number protowire.Number, b []byte, depth int) []byte {
	switch {
	case depth == 0 && number == headerField && len(b) > 16:
		return mutateWords(rng, b)
	case depth == 0 && number == bodyField:
		return mutateBody(rng, b)
	case json.Valid(b):
		return mutateJSON(rng, b)
	}
	if _, ok := fieldsOf(b); ok && depth < 3 && len(b) > 2 {
		return mutateProto(rng, b, depth+1)
	}
	return damage(rng, b)
}

// mutateWords changes words of a FlatBuffer: offsets, lengths, vtables, types.
func mutateWords(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	if rng.IntN(10) == 0 {
		return damage(rng, b)
	}
	for range 1 + rng.IntN(2) {
		at := rng.IntN(len(b))
		switch rng.IntN(4) {
		case 0:
			b[at] = byte(oddNumber(rng))
		case 1:
			at = at &^ 1
			binary.LittleEndian.PutUint16(b[min(at, len(b)-2):], uint16(oddNumber(rng)))
		case 2:
			at = min(at&^3, len(b)-4)
			old := binary.LittleEndian.Uint32(b[at:])
			binary.LittleEndian.PutUint32(b[at:], uint32(near(rng, uint64(old))))
		default:
			at = min(at&^7, len(b)-8)
			old := binary.LittleEndian.Uint64(b[at:])
			binary.LittleEndian.PutUint64(b[at:], near(rng, old))
		}
	}
	return b
}

// mutateBody changes the buffers of a batch.
func mutateBody(rng *rand.Rand, b []byte) []byte {
	switch rng.IntN(4) {
	case 0:
		return damage(rng, b)
	case 1:
		return append(slices.Clone(b), make([]byte, rng.IntN(1000))...)
	}
	if len(b) < 8 {
		return damage(rng, b)
	}
	b = slices.Clone(b)
	at := min(rng.IntN(len(b))&^7, len(b)-8) // a value, or the length of a compressed buffer
	binary.LittleEndian.PutUint64(b[at:], near(rng, binary.LittleEndian.Uint64(b[at:])))
	return b
}

// damage changes bytes without a thought.
func damage(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	switch n := len(b); {
	case n == 0 || rng.IntN(5) == 0:
		return append(b, byte(rng.IntN(256)))
	case rng.IntN(3) == 0:
		return b[:rng.IntN(n)]
	case rng.IntN(3) == 0:
		at := rng.IntN(n)
		return slices.Delete(b, at, min(n, at+1+rng.IntN(8)))
	default:
		for range 1 + rng.IntN(4) {
			b[rng.IntN(n)] ^= 1 << rng.IntN(8)
		}
		return b
	}
}

func oddNumber(rng *rand.Rand) uint64 {
	odd := []uint64{0, 1, 2, 3, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, 1 << 40, math.MaxInt64, math.MaxUint64}
	if rng.IntN(4) == 0 {
		return rng.Uint64() >> rng.IntN(64)
	}
	return odd[rng.IntN(len(odd))]
}

// near is a number that is odd, or close to what was there.
func near(rng *rand.Rand, v uint64) uint64 {
	switch rng.IntN(4) {
	case 0:
		return oddNumber(rng)
	case 1:
		return v + uint64(rng.IntN(17)) - 8
	case 2:
		return v << rng.IntN(40)
	}
	return v ^ 1<<rng.IntN(64)
}

// mutateJSON changes a value of a document, by its kind, or the text.
func mutateJSON(rng *rand.Rand, b []byte) []byte {
	if rng.IntN(4) == 0 {
		return oddText(rng, b)
	}
	var v any
	if json.Unmarshal(b, &v) != nil {
		return damage(rng, b)
	}
	out, err := json.Marshal(mutateValue(rng, v))
	if err != nil {
		return damage(rng, b)
	}
	return out
}

func mutateValue(rng *rand.Rand, v any) any {
	if rng.IntN(3) == 0 {
		return oddValue(rng)
	}
	switch v := v.(type) {
	case map[string]any:
		keys := []string{"input", "out", "report", "model", "reference", "penalty", "penalty_matrix", "regulators", "solvers", "gap", "time_limit", "edges", "precision",
			"correlation", "id_column", "orientation", "samples", "seed", "device", "engine", "format", "units", "iteration_limit", "run", "table", "solver", "\u0000", ""}
		known := slices.Sorted(func(yield func(string) bool) {
			for k := range v {
				if !yield(k) {
					return
				}
			}
		})
		switch key := keys[rng.IntN(len(keys))]; {
		case len(known) == 0 || rng.IntN(3) == 0:
			v[key] = oddValue(rng)
		case rng.IntN(4) == 0:
			delete(v, known[rng.IntN(len(known))])
		default:
			key = known[rng.IntN(len(known))]
			v[key] = mutateValue(rng, v[key])
		}
	case []any:
		if len(v) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(v))
			v[i] = mutateValue(rng, v[i])
		} else {
			return append(v, oddValue(rng))
		}
	case string:
		return string(damage(rng, []byte(v)))
	case float64:
		return []any{-v, v * 1e300, v + 0.5, 0, 1e-300, int64(1) << 62}[rng.IntN(6)]
	case bool:
		return !v
	}
	return v
}

func oddValue(rng *rand.Rand) any {
	return []any{
		nil, true, 0, -1, 1e308, "", "-", "x", "NaN", "1e999", "../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "https://127.0.0.1:1/x", "s3://b/k",
		strings.Repeat("a", 5000), []any{}, []any{[]any{[]any{}}}, []any{"bcd", "bcd"}, map[string]any{}, map[string]any{"a": map[string]any{}},
		"\u0000\u202e", "1ns", "10000h", "all", "top:9999999999", "dense", "columns", "covariance",
	}[rng.IntN(29)]
}

// oddText is a document that no marshaller writes.
func oddText(rng *rand.Rand, b []byte) []byte {
	text := string(b)
	return []byte([]string{
		text + text, text + "x", " \n" + text, "[" + text + "]", strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000), "",
		strings.Replace(text, "{", `{"penalty":1e999,`, 1), strings.Replace(text, "{", `{"penalty":1,"penalty":2,`, 1), strings.ReplaceAll(text, `"`, "'"),
		fmt.Sprintf("{%q:%q}", strings.Repeat("k", 1000), strings.Repeat("v", 100_000)), "\xef\xbb\xbf" + text, strings.ReplaceAll(text, "a", "\xff"),
		"input: x\npenalty: 3", `"` + text, "null", "0", `{"solvers":[` + strings.Repeat(`"bcd",`, 5000) + `"am"]}`,
	}[rng.IntN(18)])
}
