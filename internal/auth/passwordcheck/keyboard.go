package passwordcheck

// layouts contains the English, German and French keyboard layouts. Keys are adjacent if their rows and their columns
// differ by at most one.
var layouts = []map[rune]key{
	newLayout("1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./"),
	newLayout("1234567890ß´", "qwertzuiopü+", "asdfghjklöä", "yxcvbnm,.-"),
	newLayout("1234567890)=", "azertyuiop^$", "qsdfghjklmù", "wxcvbn,;:!"),
}

// key is the position of a key on a keyboard.
type key struct{ row, column int }

func newLayout(rows ...string) map[rune]key {
	keys := map[rune]key{}
	for row, text := range rows {
		for column, r := range []rune(text) {
			keys[r] = key{row, column}
		}
	}
	for i, r := range "!@#$%^&*()" { // the digit row with Shift pressed
		if _, ok := keys[r]; !ok {
			keys[r] = key{0, i}
		}
	}
	return keys
}

// addWalks records the weights of the sequences of adjacent keys, such as qwertz or 1qaz, that start at character i.
func (e *estimate) addWalks(i int) {
	for _, keys := range layouts {
		var direction key
		bits := startBits
		for n := 2; i+n <= len(e.runes); n++ {
			from, fromOK := keys[e.runes[i+n-2]]
			to, toOK := keys[e.runes[i+n-1]]
			step := key{to.row - from.row, to.column - from.column}
			if !fromOK || !toOK || step == (key{}) || max(step.row, -step.row) > 1 || max(step.column,
				-step.column) > 1 {
				break
			}
			if step != direction {
				bits += turnBits
			}
			direction = step
			if n >= 3 {
				e.improve(i, n, bits)
			}
		}
	}
}
