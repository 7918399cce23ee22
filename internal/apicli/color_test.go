package apicli

import "testing"

func TestColors(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ID  STATUS     TEXT\n1   published  Öl\n2   other      published\n": "\x1b[1mID  STATUS     TEXT\x1b[0m\n" +
			"1   \x1b[32mpublished\x1b[0m  Öl\n2   other      published\n",
		"NAME  STATE   STATUS\nÖlö   failed  draft\n": "\x1b[1mNAME  STATE   STATUS\x1b[0m\nÖlö   \x1b[31mfailed\x1b[0m  draft\n",
		"NAME  STATE   STATUS\na     failed  scheduled\n": "" +
			"\x1b[1mNAME  STATE   STATUS\x1b[0m\na     \x1b[31mfailed\x1b[0m  \x1b[36mscheduled\x1b[0m\n",
	} {
		if got := paintList(in); got != want {
			t.Errorf("paintList: %q", got)
		}
	}
	if got := paintItem("ID      1\nSTATUS  draft  x\n"); got != "\x1b[1mID\x1b[0m      1\n\x1b[1mSTATUS\x1b[0m  draft  x\n" {
		t.Errorf("paintItem: %q", got)
	}
	if ErrorLine(false, "x") != "pressroom: x" || ErrorLine(true, "x") != "\x1b[31mpressroom:\x1b[0m x" {
		t.Error("ErrorLine")
	}
}
