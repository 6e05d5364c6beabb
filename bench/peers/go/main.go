// Counts elements with the parser of Go's standard library, as program.ts asks: a count of documents a line.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"syscall"
)

func elements(document []byte) (count int) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			log.Fatal(err)
		}
		if _, isStart := token.(xml.StartElement); isStart {
			count++
		}
	}
}

func cpuUs() int64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		log.Fatal(err)
	}
	return (used.Utime.Nano() + used.Stime.Nano()) / 1000
}

func main() {
	all, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var documents [][]byte
	for len(all) > 0 {
		end := 4 + binary.BigEndian.Uint32(all)
		documents = append(documents, all[4:end])
		all = all[end:]
	}
	asked := bufio.NewScanner(os.Stdin)
	for asked.Scan() {
		times, err := strconv.Atoi(asked.Text())
		if err != nil {
			log.Fatal(err)
		}
		sum := 0
		for i := range times {
			sum += elements(documents[i%len(documents)])
		}
		fmt.Println(sum, cpuUs())
	}
}
