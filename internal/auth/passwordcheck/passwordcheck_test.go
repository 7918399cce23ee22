package passwordcheck_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/passwordcheck"
)

// base has the most common passwords.
const base = `password 123456 qwerty letmein welcome monkey dragon master sunshine princess football baseball iloveyou
	trustno1 superman batman shadow michael jennifer jordan hunter charlie thomas ashley bailey passw0rd p@ssword
	starwars whatever freedom secret admin login hello abc123 qwertyuiop asdfghjkl zxcvbnm 1q2w3e4r 1qaz2wsx computer
	internet samsung google liverpool chelsea arsenal summer winter spring autumn flower cookie cheese banana orange`

// Long passwords that are made from common short passwords are guessable.
func TestCommonPasswords(t *testing.T) {
	t.Parallel()
	var all []string
	for word := range strings.FieldsSeq(base) {
		capital := strings.ToUpper(word[:1]) + word[1:]
		for _, p := range []string{
			word + word, word + word + "1", capital + capital, word + "1234567890", word + "12345", capital + "1234",
			capital + "2024!", word + "2025", capital + "@123456",
			"1234" + word + "1234", word + "!!!!!!!!", capital + "1111", word + "_" + word,
			strings.ToUpper(word) + "123456", word + "qwerty123",
		} {
			if len(p) >= 12 {
				all = append(all, p)
			}
		}
	}
	all = append(all,
		strings.Fields(
			`123456789012 passwordpassword qwertyuiop12 Password1234 letmein12345 1234567890123 111111111111 121212121212
		1q2w3e4r5t6y 1qaz2wsx3edc q1w2e3r4t5y6 1qazxsw23edc zaq12wsxcde3 qwertzuiop12 azertyuiop12
		qwertyuiopasdfghjkl abcdefghijkl abcdefgh1234
		aaaaabbbbccc zxcvbnmasdfghjkl !@#$%^&*()_+ 0987654321qwe liverpoolfc1 manchesterunited christopher1 michaeljackson iloveyouforever
		P@ssw0rd1234 P@ssw0rd!2024 Summer2025!! Welcome12345 adminadmin123 administrator changeme1234
		secretsecret football2024 drowssapdrowssap
		abcd1abcd1abcd1 x9k2mx9k2mx9k2m 839201746532 19801980198019 jessicajessica alexanderalexander`)...)
	all = append(all,
		strings.Fields(
			`contraseña123 contrasena1234 Contraseña2025 motdepasse123 MotDePasse2025! wachtwoord123 пароль123456
		Пароль2025!! passwort12345 kennwort1234 hasło1234567 haslo1234567 senha1234567 palavrapasse1 şifre1234567 sifre1234567 lösenord1234
		losenord1234 parolachiave1 correcthorsebatterystaple CorrectHorseBatteryStaple1 horsebatterystaple`)...)
	all = append(all, "correct horse battery staple")
	if len(all) < 500 {
		t.Fatalf("%d passwords", len(all))
	}
	for _, p := range all {
		if !passwordcheck.IsGuessable(p) {
			t.Errorf("%s has %.1f bits", p, passwordcheck.Bits(p))
		}
	}
}

// Personal details and the service's name weigh almost nothing.
func TestPersonalDetails(t *testing.T) {
	t.Parallel()
	known := []string{"Wilhelmina Zwartkops", "w.zwartkops@kelpforest.example", "pressroom"}
	for _, p := range []string{
		"wilhelminazwartkops", "Zwartkops2026!", "kelpforest2026", "Kelpforest.Zwartkops", "zwartkops@kelpforest",
		"spoktrawz1234", "w.zwartkops-2026", "Wilhelmina.Zwartkops-26", "wilhelmina zwartkops", "pressroom2026",
		"Pressroom-Pressroom", "w1lhelm1na!!",
	} {
		if !passwordcheck.IsGuessable(p, known...) {
			t.Errorf("%s has %.1f bits", p, passwordcheck.Bits(p, known...))
		}
	}
	if p := "zwartkops gulls fetch 40 olives"; passwordcheck.IsGuessable(p, known...) {
		t.Errorf("%s has %.1f bits", p, passwordcheck.Bits(p, known...))
	}
}

// Several unrelated words, and generated passwords, are accepted.
func TestGoodPasswords(t *testing.T) {
	t.Parallel()
	for _, p := range []string{
		"copper kite margin violet", "vivid tundra sextant 9", "four plain words here", "copperkitemarginviolet",
		"my dog eats pizza", "a quiet lake by noon", "hallo wereld ik ben",
		"kR8#vTq!2mXz", "xk7Fq2mPz9Lw", "пароль из четырёх слов", "正しい馬のバッテリーの針です", "Tr0ub4dor&3xx",
	} {
		if passwordcheck.IsGuessable(p) {
			t.Errorf("%s has %.1f bits", p, passwordcheck.Bits(p))
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyz"
	// A fixed seed, because about one in thousands of random lowercase passwords is rejected.
	from := rand.New(rand.NewPCG(1, 2))
	for _, alphabet := range []string{
		letters + strings.ToUpper(letters) + "0123456789", letters + "-0123456789", letters,
	} {
		for range 300 {
			if p := random(from, alphabet, 14); passwordcheck.IsGuessable(p) {
				t.Errorf("%s has %.1f bits", p, passwordcheck.Bits(p))
			}
		}
	}
}

func random(from *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[from.IntN(len(alphabet))]
	}
	return string(out)
}

// Any text is estimated quickly.
func FuzzBits(f *testing.F) {
	for _, seed := range []string{
		"", "a", "\xff\xfe", "ß´", strings.Repeat("1", 200), strings.Repeat("q8%Z!kd9wa xk", 15), "İstanbul",
	} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, password, known string) {
		if len(password)+len(known) > 400 { // no real password is longer
			t.Skip()
		}
		if bits := passwordcheck.Bits(password, known); bits < 0 && password != "" ||
			bits > 5.6*float64(len(password))+1 {
			t.Errorf("%q has %f bits", password, bits)
		}
	})
}

func BenchmarkBits(b *testing.B) {
	for _, p := range []string{
		"vivid tundra sextant 9", strings.Repeat("q8%Z!kd9wa xk", 15), strings.Repeat("1", 199),
	} {
		b.Run(fmt.Sprint(len(p)), func(b *testing.B) {
			for b.Loop() {
				passwordcheck.Bits(p)
			}
		})
	}
}
