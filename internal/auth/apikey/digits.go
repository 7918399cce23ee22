package apikey

import "strings"

// digits is an encoding of bytes as digits of some bits each.
type digits struct {
	value [256]byte
	bits  int
	cuts  int // after so many digits a byte begins again where a digit begins
}

const noDigit = 0xff

var (
	hexadecimal = newDigits(4, 2, "0123456789abcdef", "0123456789ABCDEF")
	base64      = newDigits(6, 4, base64Letters+"+/", base64Letters+"-_")
)

const base64Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func newDigits(bits, cuts int, alphabets ...string) *digits {
	d := &digits{bits: bits, cuts: cuts}
	for b := range d.value {
		d.value[b] = noDigit
	}
	for _, letters := range alphabets {
		for v := range letters {
			d.value[letters[v]] = byte(v & 0xff)
		}
	}
	return d
}

// of gives the values of all digits of a text.
func (d *digits) of(text string) []byte {
	out := make([]byte, len(text))
	n := 0
	for i := range len(text) {
		v := d.value[text[i]]
		out[n] = v
		if v != noDigit { // the next one takes its place else: there is no branch to guess wrong
			n++
		}
	}
	return out[:n]
}

// packed are bytes as the values of digits.
type packed struct {
	*digits
	values []byte
}

func (p packed) len() int { return len(p.values) * p.bits / 8 }

// at gives one byte. Nothing but what is asked for is put together, as most of it need not be looked at.
func (p packed) at(i int) byte {
	if p.bits == 4 {
		return p.values[2*i]<<4 | p.values[2*i+1]
	}
	digit, used := i*8/6, i*8%6
	return p.values[digit]<<(2+used) | p.values[digit+1]>>(4-used)
}

// lastBreak gives the last place between two others where a text cannot go on, or the first of them.
func (p packed) lastBreak(from, to int) int {
	for i := to - 1; i > from; i-- {
		if !follows(p.at(i-1), p.at(i)) {
			return i
		}
	}
	return from
}

// text gives the bytes from one place to the first break that is so far behind it, but never more than most.
func (p packed) text(from, least, most int) string {
	var out strings.Builder
	digit, used := from*8/p.bits, from*8%p.bits
	bits, n, last := int(p.values[digit]), p.bits-used, byte(0)
	for _, v := range p.values[digit+1:] {
		bits = bits<<p.bits | int(v)
		if n += p.bits; n < 8 {
			continue
		}
		n -= 8
		b := byte(bits >> n & 0xff)
		if out.Len() >= least && !follows(last, b) || out.Len() == most {
			break
		}
		out.WriteByte(b)
		last = b
	}
	return out.String()
}

// follows tells whether two bytes can be neighbours in a text: in UTF-8 without control characters, but for line
// breaks, tabs and the NULs of UTF-16.
func follows(a, b byte) bool { return successors[parts[a]]&parts[b] != 0 }

// part is what a byte is in a text.
type part byte

const (
	whole part = 1 << iota
	lead
	tail
)

// successors are the parts that may stand behind one.
var successors = [...]part{whole: whole | lead, lead: tail, tail: whole | lead | tail}

var parts = partition()

func partition() [256]part {
	var out [256]part
	for b := range out {
		switch {
		case b == 0, b >= '\t' && b <= '\r', b >= ' ' && b < 0x7f:
			out[b] = whole
		case b >= 0x80 && b < 0xc0:
			out[b] = tail
		case b >= 0xc2 && b < 0xf5:
			out[b] = lead
		}
	}
	return out
}
