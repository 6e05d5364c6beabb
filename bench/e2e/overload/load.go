// A load generator of nothing but Go's standard library: the gateway is judged by what it does not share a line with.
//
//	URL=… KEY=… BODY=… CLIENTS=64 SECONDS=5 go run load.go           each client one request after the other
//	URL=… KEY=… BODY=… RATE=2000 SECONDS=5 go run load.go            so many a second, answered or not
//
// BODY may be several bodies, one a line, which are taken in turn, and so may PATHS, which follow URL; {id} in a path is
// a new name each time. METHOD is POST where it is left out. It prints one line of JSON.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A request that found no room in the generator itself would be counted as the gateway's.
const runningMax = 20000

type side struct {
	Count int     `json:"count"`
	P50Ms float64 `json:"p50_ms"`
	P99Ms float64 `json:"p99_ms"`
	// The 99.9th percentile.
	P999Ms float64 `json:"p999_ms"`
	took   []time.Duration
}

type result struct {
	Seconds float64 `json:"seconds"`
	// Done: answered with 2xx. Refused: answered with 503 and a Retry-After.
	Done    side `json:"done"`
	Refused side `json:"refused"`
	// All other answers by status; 0 means no answer at all.
	Other map[string]int `json:"other"`
}

var (
	url    = os.Getenv("URL")
	key    = os.Getenv("KEY")
	bodies = strings.Split(os.Getenv("BODY"), "\n")
	paths  = strings.Split(os.Getenv("PATHS"), "\n")
	method = os.Getenv("METHOD")
	client = http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConns: runningMax, MaxIdleConnsPerHost: runningMax},
	}
	run  = randomName()
	sent atomic.Int64
	lock sync.Mutex
	told = result{Other: map[string]int{}}
)

// Letters only, since the gateway refuses a key whose digits look like a card number.
func randomName() string {
	bytes := make([]byte, 16)
	rand.Read(bytes)
	for at := range bytes {
		bytes[at] = 'a' + bytes[at]%16
	}
	return string(bytes)
}

// A latency counts from when the request was due: a client that comes late has waited too.
func send(due time.Time) {
	number := sent.Add(1)
	body := bodies[int(number)%len(bodies)]
	path := strings.ReplaceAll(paths[int(number)%len(paths)], "{id}", fmt.Sprintf("%s%016x", run, number))
	request, err := http.NewRequest(method, url+path, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", run+"-"+strconv.FormatInt(number, 10))
	response, err := client.Do(request)
	status, again := 0, ""
	if err == nil {
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		status, again = response.StatusCode, response.Header.Get("Retry-After")
	}
	took := time.Since(due)
	lock.Lock()
	defer lock.Unlock()
	switch {
	case status >= 200 && status < 300:
		told.Done.took = append(told.Done.took, took)
	case status == 503 && again != "":
		told.Refused.took = append(told.Refused.took, took)
	default:
		told.Other[strconv.Itoa(status)]++
	}
}

func closed(clients int, until time.Time) {
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for now := time.Now(); now.Before(until); now = time.Now() {
				send(now)
			}
		})
	}
	all.Wait()
}

func open(rate int, start, until time.Time) {
	var all sync.WaitGroup
	room := make(chan struct{}, runningMax)
	for number := 0; ; number++ {
		due := start.Add(time.Duration(number) * time.Second / time.Duration(rate))
		if !due.Before(until) {
			break
		}
		time.Sleep(time.Until(due))
		room <- struct{}{}
		all.Go(func() {
			send(due)
			<-room
		})
	}
	all.Wait()
}

func (s *side) judge() {
	s.Count = len(s.took)
	if s.Count == 0 {
		return
	}
	slices.Sort(s.took)
	at := func(share float64) float64 {
		return float64(s.took[min(s.Count-1, int(float64(s.Count)*share))].Microseconds()) / 1000
	}
	s.P50Ms, s.P99Ms, s.P999Ms = at(0.5), at(0.99), at(0.999)
}

func number(name string) int {
	value, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return 0
	}
	return value
}

func main() {
	if method == "" {
		method = http.MethodPost
	}
	start := time.Now()
	until := start.Add(time.Duration(number("SECONDS")) * time.Second)
	if rate := number("RATE"); rate > 0 {
		open(rate, start, until)
	} else {
		closed(number("CLIENTS"), until)
	}
	told.Seconds = time.Since(start).Seconds()
	told.Done.judge()
	told.Refused.judge()
	if err := json.NewEncoder(os.Stdout).Encode(told); err != nil {
		log.Fatal(err)
	}
}
