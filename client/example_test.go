package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pressroom.example/pressroom/client"
)

// The examples run against the built program with its sandbox networks.
func TestMain(m *testing.M) {
	os.Exit(run(m))
}

var address, key string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pressroom-client-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "pressroom")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", binary, "./cmd/pressroom").CombinedOutput(); err != nil {
		panic(string(out))
	}
	program := exec.Command(binary, "quickstart", "--data", filepath.Join(dir, "data"), "--addr", "127.0.0.1:0", "--json")
	out, err := program.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := program.Start(); err != nil {
		panic(err)
	}
	defer func() {
		_ = program.Process.Signal(os.Interrupt)
		_ = program.Wait()
	}()
	var greeting struct {
		BaseURL string            `json:"base_url"`
		Keys    map[string]string `json:"keys"`
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &greeting)
	}
	if err != nil {
		panic(err)
	}
	address, key = greeting.BaseURL, greeting.Keys["full"]
	return m.Run()
}

func connect() *client.Client {
	c, err := client.New(address, key)
	if err != nil {
		panic(err)
	}
	return c
}

func Example() {
	c, err := client.New(address, key)
	if err != nil {
		fmt.Println(err)
		return
	}
	me, err := c.GetIdentity(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(me.Data.Key.Level, me.Data.Capabilities)
	// Output: full [read write publish spend]
}

func ExampleClient_Wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := connect()
	post, err := c.CreatePost(ctx, client.CreatePostInput{Caption: "Open from eight on Sunday.", AccountIDs: []int64{1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	published, err := c.PublishPost(ctx, client.PublishPostInput{PostID: post.Data.ID})
	if err != nil {
		fmt.Println(err)
		return
	}
	job, err := c.Wait(ctx, published.Data.JobID)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := client.Result[client.PostResult](job.Data)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, account := range result.Accounts {
		fmt.Println(account.ID, account.State)
	}
	// Output: 1 published
}

func ExampleClient_ListSocialAccountsAll() {
	count := 0
	for account, err := range connect().ListSocialAccountsAll(context.Background(), client.ListSocialAccountsInput{Limit: 4}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if account.Active {
			count++
		}
	}
	fmt.Println(count, "accounts")
	// Output: 9 accounts
}

func ExampleIdempotencyKey() {
	c := connect()
	in := client.CreatePostInput{Caption: "Autumn hours from Monday.", AccountIDs: []int64{1}}
	first, err := c.CreatePost(context.Background(), in, client.IdempotencyKey("autumn-7"))
	if err != nil {
		fmt.Println(err)
		return
	}
	// Another program makes the same call without knowing the outcome of the first.
	again, err := c.CreatePost(context.Background(), in, client.IdempotencyKey("autumn-7"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Replayed, again.Data.ID == first.Data.ID)
	// Output: true true
}

func ExampleError() {
	_, err := connect().CreatePost(context.Background(), client.CreatePostInput{Caption: "No accounts."})
	var e *client.Error
	ok := errors.As(err, &e)
	fmt.Println(ok, e.Status, e.Code, e.Context.Argument, e.Context.Reason)
	// Output: true 422 validation_failed account_ids missing_argument
}

func ExampleClient_Upload() {
	dot := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\b\x06\x00\x00\x00\x1f\x15ĉ" +
		"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
	files := []client.File{client.FileFromBytes("dot.png", []byte(dot)), client.FileFromBytes("notes.txt", []byte("no picture"))}
	results, err := connect().Upload(context.Background(), files, client.UploadInput{})
	fmt.Println(results[0].MediaID > 0, client.CodeOf(results[1].Err), err != nil)
	// Output: true validation_failed true
}
